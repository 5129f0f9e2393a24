"""How much faster flatlas is than the plain way, as ratios. Run by `make bench`."""

import os

# The libraries read these when they are imported. torch alone may be given more threads later.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
