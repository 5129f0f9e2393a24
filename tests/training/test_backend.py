"""Trainings by the compiled kernel agree with those by torch."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from kernels import FLOAT32, FLOAT64, needs_compiler
from short_runs import optimizer, quiet, run, samples, trained

from flatlas.errors import FlatlasError
from flatlas.training import stack
from flatlas.training.noise import Noise, pairs_of
from flatlas.training.start import initial_weights

pytestmark = needs_compiler

EPOCHS = 8


def net(*hidden, **other):
    return {"family": "dense", "hidden": hidden, "bias": True, **other}


DROPOUT = {"net": net(9, 30, dropout=0.5)}
RULE = {"loss_below": 0.9, "epochs": EPOCHS, "extra_epochs": 3}
CASES = {
    "sgd": {},
    "no biases": {"net": net(9, 30, bias=False)},
    "one layer": {"net": net()},
    "momentum": optimizer("momentum", lr=0.05, momentum=0.8),
    "nesterov": optimizer("momentum", lr=0.05, momentum=0.8, nesterov=True),
    "adam": optimizer("adam", lr=0.02, betas=(0.8, 0.95), epsilon=0.01),
    "adamw": optimizer("adamw", lr=0.02, decay=0.1),
    "rmsprop": optimizer("rmsprop", lr=0.01, smoothing=0.9),
    "adagrad": optimizer("adagrad", lr=0.1),
    "adagrad with an initial accumulator": optimizer("adagrad", lr=0.1, initial_accumulator=0.1),
    # Seven Langevin steps a round and six minibatches an epoch.
    "entropy_sgd": optimizer("entropy_sgd", inner_lr=0.5, noise=0.1, gamma=0.1, langevin_steps=7),
    "entropy_sgd, dropout": DROPOUT | optimizer("entropy_sgd", noise=0.1),
    "dropout": DROPOUT,
    "squared": {"penalty": {"form": "squared", "coefficient": 0.01}},
    "unsquared": {"penalty": {"form": "unsquared", "coefficient": 0.1}},
    "half squared, for a while": {
        "penalty": {"form": "half_squared", "coefficient": 0.1, "until_epoch": 3},
        **optimizer("adam", lr=0.02),
    },
    "step": {"schedule": {"kind": "step", "epochs": (1, 3), "factor": 0.5}},
    "linear tail": {"schedule": {"kind": "linear_tail", "floor": 0.5}, **optimizer("adam")},
    "ssgd": {"learners": {"kind": "ssgd", "count": 2}, "batch": 2, **DROPOUT},
    "dpsgd": {
        "learners": {"kind": "dpsgd", "count": 3, "mixing": "neighbourhood"},
        "batch": 2,
        "penalty": {"form": "unsquared", "coefficient": 0.1},
        **optimizer("momentum", lr=0.05),
    },
    "averaging": {"average": {"from_epoch": 3}, **DROPOUT},
    "averaging of entropy_sgd": {"average": {"from_epoch": 3}, **optimizer("entropy_sgd")},
    "frozen below": {"frozen": ("fc1",), "penalty": {"form": "unsquared", "coefficient": 0.1}},
    "frozen above": {"frozen": ("fc3",), **optimizer("entropy_sgd", noise=0.1)},
    "full batch": {"batch": "full"},
    "snapshots": {"snapshots": "fc2", "stop": RULE, "checkpoints": (0, 2), "overtraining": (0, 2)},
    "rescaling": {"rescaling": {"layer": "fc1", "factor": 3.0, "after": 1}, "stop": RULE},
    "one output": {"outputs": 1},
}


def draw(noise, count):
    """The kernel's noise, which differs from NumPy's in the last bits of a float32."""
    numbers = np.empty(count, np.float32)
    FLOAT64.library.normal_numbers(noise.seed, noise.position, count, numbers.ctypes.data)
    noise.position += pairs_of(count)
    return numbers


def both(spec, data, folder, monkeypatch):
    """The same training by torch and by the kernel, all of it in float64, with the same noise."""
    monkeypatch.setattr(Noise, "draw", draw)
    monkeypatch.setattr(
        stack,
        "initial_weights",
        lambda *given: {name: value.double() for name, value in initial_weights(*given).items()},
    )
    exact = replace(
        data, inputs=data.inputs.astype(np.float64), test_inputs=data.test_inputs.astype(np.float64)
    )
    return (
        trained(spec, exact, folder / str(k), kernel) for k, kernel in enumerate((None, FLOAT64))
    )


@pytest.mark.parametrize("case", CASES)
def test_the_kernel_trains_as_torch_does(tmp_path, monkeypatch, case):
    """Most pixels are zero, some images are black, and some labels are wrong."""
    spec = run(**{"stop": {"epochs": EPOCHS}, "net": net(9, 30)} | CASES[case])
    data = samples(classes=2 if spec.outputs == 1 else 3, count=25)
    data.inputs[data.inputs < 0.3] = 0
    data.inputs[:, ::6] = 0
    data.clean[:, ::5] = False
    by_torch, by_kernel = both(spec, data, tmp_path, monkeypatch)
    assert set(by_kernel.weights) == set(by_torch.weights)
    for name, value in by_torch.weights.items():
        np.testing.assert_allclose(by_kernel.weights[name], value, rtol=1e-9, atol=1e-11)
    pd.testing.assert_frame_equal(by_kernel.history, by_torch.history, rtol=1e-9, atol=1e-12)
    pd.testing.assert_frame_equal(by_kernel.outcomes, by_torch.outcomes)
    if spec.snapshots:
        assert np.isfinite(by_torch.trajectory.array).any()
        np.testing.assert_allclose(
            by_kernel.trajectory.array, by_torch.trajectory.array, rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("name", ["adam", "adamw"])
@pytest.mark.parametrize("beta", [0.9, 0.999, 0.99999, 0.999999])
def test_adam_in_float32_corrects_the_beta_that_float32_has(tmp_path, monkeypatch, name, beta):
    """1 − 0.999999 is off by 1.4 % in float32. Two epochs have fourteen steps."""
    spec = run(**optimizer(name, lr=0.01, betas=(0.9, beta)), stop={"epochs": 2})
    data = samples(count=25)
    by_kernel = trained(spec, data, tmp_path / "float32", FLOAT32).weights
    by_torch = next(both(spec, data, tmp_path, monkeypatch)).weights
    for name, value in by_torch.items():
        np.testing.assert_allclose(by_kernel[name], value, rtol=0, atol=3e-6)


@pytest.mark.parametrize("case", CASES)
def test_the_bytes_of_a_realization_do_not_depend_on_the_stack(tmp_path, case):
    chosen = {"stop": {"epochs": 4}} | CASES[case]
    stack = trained(run(**chosen), samples(), tmp_path / "stack", FLOAT32)
    alone = trained(run(**chosen, seeds=(1,)), samples((1,)), tmp_path / "alone", FLOAT32)
    for name, value in alone.weights.items():
        assert stack.weights[name][1].tobytes() == value[0].tobytes(), name


def test_a_training_begun_by_the_kernel_is_not_continued_by_torch(task, monkeypatch):
    training = task("training", place="cpu with 1 threads")
    assert training.run("cpu", quiet) == FLOAT32.name
    monkeypatch.setattr("flatlas.training.backend.find_kernel", lambda: None)
    with pytest.raises(FlatlasError, match=r"cpu with 1 threads, compiled by .* torch"):
        training.run("cpu", quiet)
