"""Trainings by the compiled kernel agree with those by torch."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from kernels import FLOAT32, FLOAT64, needs_compiler
from short_runs import SHAPE, assert_same, run, samples, trained

from flatlas.errors import FlatlasError
from flatlas.store.arrays import write_arrays
from flatlas.store.tables import write_table
from flatlas.training import stack
from flatlas.training.errand import Errand
from flatlas.training.start import initial_weights

pytestmark = needs_compiler

EPOCHS = 8


def net(*hidden, **other):
    return {"family": "dense", "hidden": hidden, "bias": True, **other}


def optimizer(name, **values):
    return {"optimizer": {"name": name, **values}}


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
    "step": {"schedule": {"kind": "step", "epochs": (2, 4), "factor": 0.5}},
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


def both(spec, data, folder, monkeypatch):
    """The same training by torch and by the kernel, all of it in float64."""
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
    """Few pixels are lit, some images are dark, some labels are wrong: those count in no loss."""
    spec = run(**{"stop": {"epochs": EPOCHS}, "net": net(9, 30)} | CASES[case])
    data = samples(classes=2 if spec.outputs == 1 else 3, count=25)
    data.inputs[data.inputs < 0.3] = 0
    data.inputs[:, ::6] = 0
    data.clean[:, ::5] = False
    torch_s, kernel_s = both(spec, data, tmp_path, monkeypatch)
    assert set(kernel_s.weights) == set(torch_s.weights)
    for name, value in torch_s.weights.items():
        np.testing.assert_allclose(kernel_s.weights[name], value, rtol=1e-9, atol=1e-11)
    pd.testing.assert_frame_equal(kernel_s.history, torch_s.history, rtol=1e-9, atol=1e-12)
    pd.testing.assert_frame_equal(kernel_s.outcomes, torch_s.outcomes)
    if spec.snapshots:
        assert np.isfinite(torch_s.trajectory.array).any()
        np.testing.assert_allclose(
            kernel_s.trajectory.array, torch_s.trajectory.array, rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("case", CASES)
def test_a_realization_leaves_the_same_bytes_alone_and_in_a_stack(tmp_path, case):
    chosen = {"stop": {"epochs": 4}} | CASES[case]
    stack = trained(run(**chosen), samples(), tmp_path / "stack", FLOAT32)
    alone = trained(run(**chosen, seeds=(1,)), samples((1,)), tmp_path / "alone", FLOAT32)
    for name, value in alone.weights.items():
        assert stack.weights[name][1].tobytes() == value[0].tobytes(), name
    again = trained(run(**chosen), samples(), tmp_path / "again", FLOAT32)
    assert_same(stack, again)


@pytest.fixture
def errand(tmp_path):
    """Writes the files of a training, and says how it is carried out at a place."""
    rng = np.random.default_rng(0)
    pixels = (rng.random((60, *SHAPE)) < 0.4) * rng.integers(1, 256, (60, *SHAPE))
    images = {"train_images": pixels[:48], "test_images": pixels[48:]}
    write_arrays(
        tmp_path / "images.safetensors", {k: v.astype(np.uint8) for k, v in images.items()}
    )
    rows = [(seed, "train", k, k % 3, k % 3) for seed in (0, 1, 2) for k in range(seed, seed + 24)]
    rows += [(seed, "test", k, k % 3, k % 3) for seed in (0, 1, 2) for k in range(12)]
    columns = ["seed", "part", "index", "label", "true_label"]
    write_table(tmp_path / "samples.parquet", pd.DataFrame(rows, columns=columns))
    names = {"weights": "safetensors", "history": "parquet", "outcomes": "csv", "times": "csv"}
    return Errand(
        spec=run(stop={"epochs": 3}).resolved(),
        images=str(tmp_path / "images.safetensors"),
        samples=str(tmp_path / "samples.parquet"),
        start=None,
        outputs={name: str(tmp_path / f"{name}.{kind}") for name, kind in names.items()},
        resume=str(tmp_path / "resume"),
        identity="",
        place="cpu with 1 threads",
    )


def test_a_training_that_one_way_began_is_not_gone_on_with_by_the_other(errand, monkeypatch):
    assert errand.carry_out("cpu", lambda *_, **__: None) == FLOAT32.made
    monkeypatch.setattr("flatlas.training.way.find_kernel", lambda: None)
    expected = "made by cpu with 1 threads, compiled by .*; here .*, torch"
    with pytest.raises(FlatlasError, match=expected):
        errand.carry_out("cpu", lambda *_, **__: None)
