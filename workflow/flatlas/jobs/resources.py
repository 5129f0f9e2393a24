"""What a job is given to compute with."""

from collections.abc import Mapping
from typing import Any

# Where numerical libraries look for their number of threads; Snakemake sets the same.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def wants_gpu(resources: Mapping[str, Any]) -> bool:
    """Whether a rule asks for a GPU, in either of the ways that clusters know."""
    return bool(resources.get("gpu") or resources.get("gres"))
