"""Which device a job computes on. That a GPU is used where there is one, tests/training shows."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import torch

from flatlas.device import choose_device, gpu_memory_mib

WORKFLOW = Path(__file__).resolve().parents[1] / "workflow"


def test_where_none_is_wanted_torch_is_not_even_loaded():
    code = (
        "import sys; from flatlas.device import choose_device, gpu_memory_mib;"
        "assert choose_device(wanted=False) == 'cpu'; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=WORKFLOW, check=True)


def test_a_cpu_has_no_memory_of_a_gpu():
    assert gpu_memory_mib("cpu") is None


def test_a_gpu_that_is_not_there_is_told_in_the_log(monkeypatch, caplog):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with caplog.at_level(logging.WARNING, logger="flatlas"):
        assert choose_device(wanted=True) == "cpu"
    assert [record.getMessage() for record in caplog.records] == [
        "a GPU was asked for, but torch sees none: computing on the CPU"
    ]


AS_IF_THERE_WERE_ONE = """
import os
import torch
from flatlas.device import choose_device

torch.cuda.is_available = lambda: True
torch.cuda.get_device_name = lambda: "a GPU"
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
assert choose_device(wanted=True) == "cuda"
assert torch.are_deterministic_algorithms_enabled()
assert torch.is_deterministic_algorithms_warn_only_enabled()
assert not torch.backends.cuda.matmul.allow_tf32
assert not torch.backends.cudnn.allow_tf32
print(os.environ["CUBLAS_WORKSPACE_CONFIG"])
"""


def test_a_gpu_is_made_to_repeat_itself():
    """In a process of its own, for all of it is torch's for good."""
    env = {name: value for name, value in os.environ.items() if name != "CUBLAS_WORKSPACE_CONFIG"}
    done = subprocess.run(
        [sys.executable, "-c", AS_IF_THERE_WERE_ONE],
        cwd=WORKFLOW, env=env, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == ":4096:8\n"
