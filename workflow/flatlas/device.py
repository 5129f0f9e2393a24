"""The device that a job computes on, and the settings that make a GPU reproducible."""

import logging
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("flatlas")


def choose_device(wanted: bool) -> str:
    """'cuda' if a GPU is wanted and there is one, else 'cpu'; the log says which and why."""
    if not wanted:
        return "cpu"
    # Must be set before CUDA starts; see torch.use_deterministic_algorithms.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    if not torch.cuda.is_available():
        logger.warning("a GPU would be faster, but torch sees none: computing on the CPU")
        return "cpu"
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    logger.info("computing on %s", torch.cuda.get_device_name())
    return "cuda"


def gpu_count(device: str) -> int:
    """The GPUs that torch sees; none if a job computes on the CPU."""
    if device == "cpu":
        return 0
    import torch

    return torch.cuda.device_count()


def memory_of(device: "torch.device") -> int:
    """The bytes of memory of a GPU, or of the machine."""
    if device.type == "cuda":
        import torch

        return int(torch.cuda.get_device_properties(device).total_memory)
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def torch_threads() -> int:
    """The number of threads of torch, which the rule has set."""
    import torch

    return torch.get_num_threads()


def gpu_name(device: str) -> str | None:
    """The model of the GPU; None on a CPU."""
    if device == "cpu":
        return None
    import torch

    return torch.cuda.get_device_name()


def device_facts(device: str) -> dict[str, object]:
    """What the provenance of a result says about where it was computed."""
    return {
        "device": device,
        "gpu": gpu_name(device),
        "gpu_memory_mib": gpu_memory_mib(device),
        "threads": torch_threads(),
    }


def gpu_memory_mib(device: str) -> int | None:
    """The peak memory of tensors on a GPU since this process began; None on a CPU."""
    if device == "cpu":
        return None
    import torch

    return round(torch.cuda.max_memory_allocated() / (1 << 20))
