"""Which device a job computes on; tests/training shows that a job uses a GPU if there is one."""

import logging

import torch

from flatlas.device import choose_device, gpu_memory_mib, gpu_name


def test_torch_is_not_loaded_if_no_gpu_is_wanted(python):
    python(
        "import sys; from flatlas.device import choose_device;"
        "assert choose_device(wanted=False) == 'cpu'; assert 'torch' not in sys.modules"
    )


def test_a_cpu_has_no_gpu():
    assert gpu_name("cpu") is None and gpu_memory_mib("cpu") is None


def test_a_missing_gpu_is_logged(monkeypatch, caplog):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with caplog.at_level(logging.WARNING, logger="flatlas"):
        assert choose_device(wanted=True) == "cpu"
    (record,) = caplog.records
    assert "GPU" in record.getMessage() and "CPU" in record.getMessage()


WITH_A_FAKE_GPU = """
import os
import torch
from flatlas.device import choose_device

torch.cuda.is_available = lambda: True
torch.cuda.get_device_name = lambda: "a GPU"
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
assert choose_device(wanted=True) == "cuda"
assert torch.are_deterministic_algorithms_enabled()
assert torch.is_deterministic_algorithms_warn_only_enabled()
assert not torch.backends.cuda.matmul.allow_tf32
assert not torch.backends.cudnn.allow_tf32
print(os.environ["CUBLAS_WORKSPACE_CONFIG"])
"""


def test_a_gpu_is_set_to_deterministic_algorithms_without_tf32(python):
    """In its own process, because these settings of torch stay."""
    assert python(WITH_A_FAKE_GPU) == ":4096:8\n"
