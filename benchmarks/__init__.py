"""How much faster flatlas is than the plain way, as ratios. Run by `make bench`."""

import os

# Libraries read these variables when they are imported. Only torch can get more threads later.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
