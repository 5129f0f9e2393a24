"""A training that was interrupted continues to the same bytes."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from kernels import FLOAT32, needs_compiler
from short_runs import (
    CONVOLUTIONAL,
    DROPOUT,
    NET,
    NORMED,
    SavesEveryEpoch,
    assert_same,
    interrupted,
    optimizer,
    quiet,
    run,
    samples,
    trained,
)

from flatlas.errors import FlatlasError
from flatlas.plan.training_specs import OPTIMIZERS
from flatlas.training.optimizers.from_torch import FromTorch
from flatlas.training.resume import Resume, identity
from flatlas.training.trainer import Trainer, train

STOP = {"epochs": 40, "loss_below": 0.6}
FAST = STOP | {"loss_below": 0.9}
ADAM = optimizer("adam", lr=0.02)


def resumed(spec, data, folder, kernel=None, known_by=""):
    """The results, and the epochs that were trained for them."""
    epochs = []

    def note(done, *_, **__):
        epochs.append(done)

    return train(spec, data, SavesEveryEpoch(folder, known_by), note, kernel=kernel), epochs


AVERAGED = NORMED | {"checkpoints": (1,), "average": {"from_epoch": 1}, "stop": FAST}
CASES = {
    "sgd": {},
    "momentum": optimizer("momentum", lr=0.05, momentum=0.8),
    "nesterov": optimizer("momentum", lr=0.05, nesterov=True),
    "adam": ADAM,
    "adamw": optimizer("adamw", lr=0.02),
    "rmsprop": optimizer("rmsprop", lr=0.01),
    "adagrad": optimizer("adagrad", lr=0.1, initial_accumulator=0.1),
    # Seven Langevin steps a round and six minibatches an epoch: interrupted within a round.
    "entropy_sgd": optimizer("entropy_sgd", inner_lr=0.5, noise=0.01, langevin_steps=7),
    "sam": optimizer("sam", lr=0.1) | DROPOUT,
    "asam": AVERAGED | optimizer("sam", lr=0.05, radius=0.5, adaptive=True),
    "dropout": DROPOUT,
    "ssgd": {"learners": {"kind": "ssgd", "count": 2}, "batch": 2},
    "dpsgd": {"learners": {"kind": "dpsgd", "count": 3}, "batch": 1, **DROPOUT},
    "averaging": {"average": {"from_epoch": 2}},
    "snapshots": {"snapshots": "fc2", "stop": STOP | {"extra_epochs": 3}},
    "checkpoints": {"checkpoints": (0, 3, 7, 9, 20), "stop": STOP | {"extra_epochs": 2}},
    "penalty": {"penalty": {"form": "unsquared", "coefficient": 0.01}},
    "schedule": {"schedule": {"kind": "linear_tail", "floor": 0.5}},
    "frozen": {"frozen": ("fc2",), **DROPOUT},
    # One has left the stack, one has just been scaled, one is scaled an epoch later.
    "rescaling": {
        "rescaling": {"layer": "fc1", "factor": 3.0, "after": 4},
        "overtraining": (4, 5),
        "stop": STOP | {"extra_epochs": 5},
    },
    "convolutional": CONVOLUTIONAL | {"stop": FAST},
    "batch norm": AVERAGED | optimizer("momentum", lr=0.05),
    "bfloat16": AVERAGED | {"precision": "bfloat16"},
    # It draws from torch's own stream.
    "own": {
        "net": {"family": "own", "module": "dropping:Dropping", "arguments": {"width": 8}},
        "learners": {"kind": "dpsgd", "count": 3},
        "batch": 2,
        "stop": FAST,
    },
}
DENSE = sorted(case for case in CASES if CASES[case].get("net", NET)["family"] == "dense")


def test_every_optimizer_is_among_the_cases():
    names = {run(**{"stop": STOP} | case).optimizer.name for case in CASES.values()}
    assert names == {*OPTIMIZERS}


@pytest.mark.parametrize(
    ("case", "kernel"),
    [
        *((case, None) for case in CASES),
        *(pytest.param(case, FLOAT32, marks=needs_compiler) for case in DENSE),
    ],
)
def test_an_interruption_leaves_no_trace(tmp_path, monkeypatch, case, kernel):
    monkeypatch.chdir(Path(__file__).parent)
    spec = run(**{"stop": STOP} | CASES[case])
    data = samples(shape=spec.input_shape)
    undisturbed = trained(spec, data, tmp_path / "undisturbed", kernel)
    ends = undisturbed.outcomes.epoch
    assert ends.nunique() > 1
    # One member has left the stack, the others are still in it.
    interrupted(spec, data, SavesEveryEpoch(tmp_path / "resume"), ends.min(), kernel=kernel)
    done, epochs = resumed(spec, data, tmp_path / "resume", kernel)
    assert epochs == list(range(ends.min() + 1, ends.max() + 1))
    assert_same(done, undisturbed)
    assert len(done.times) == len(undisturbed.times)


class Slowing(torch.optim.Optimizer):
    """A user's optimizer with Python numbers in its state, and a counter that is a tensor."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for parameter in self.param_groups[0]["params"]:
            state = self.state[parameter]
            state["taken"] = state.get("taken", 0) + 1
            state["share"] = 0.999 * state.get("share", 1.0)
            state["seen"] = state.get("seen", torch.tensor(0)) + 1
            slower = state["taken"].bit_length() + state["seen"].item() ** 0.1
            rate = self.param_groups[0]["lr"] * state["share"] / slower
            assert isinstance(rate, float)
            parameter.add_(parameter.grad, alpha=-rate)


@pytest.mark.parametrize("net", [NET, {"family": "own", "module": "dropping:Slashed"}])
def test_an_optimizer_of_torch_with_python_numbers_is_resumed(tmp_path, monkeypatch, net):
    monkeypatch.chdir(Path(__file__).parent)
    built = "flatlas.training.optimizers.sgd.build"
    monkeypatch.setattr(built, lambda spec, parameters, noise: FromTorch(parameters, Slowing))
    spec, data = run(net=net, stop=STOP, **optimizer("sgd", lr=1.0)), samples()
    undisturbed = trained(spec, data, tmp_path / "undisturbed")
    ends = undisturbed.outcomes.epoch
    assert ends.nunique() > 1
    interrupted(spec, data, SavesEveryEpoch(tmp_path / "resume"), ends.min())
    done, _ = resumed(spec, data, tmp_path / "resume")
    assert_same(done, undisturbed)


@pytest.mark.parametrize("chosen", [ADAM, CASES["sam"]])
def test_a_killed_process_loses_only_what_it_had_not_saved(tmp_path, forked, chosen):
    spec, data = run(stop={"epochs": 6}, **chosen), samples()

    def until_killed():
        def kill(done, *_, **__):
            if done == 3:
                os.kill(os.getpid(), signal.SIGKILL)

        train(spec, data, SavesEveryEpoch(tmp_path / "resume"), kill)

    assert forked(until_killed) == -signal.SIGKILL
    done, epochs = resumed(spec, data, tmp_path / "resume")
    assert epochs == [4, 5, 6]
    assert_same(done, trained(spec, data, tmp_path / "undisturbed"))


SNAPSHOTS = run(snapshots="fc2", stop={"epochs": 2, "extra_epochs": 3})
NO_SNAPSHOT = run(snapshots="fc2", stop={"epochs": 5, "extra_epochs": 2, "loss_below": 1e-9})


def cut_state(folder, left):
    """A state of so many bytes, or of this share of them."""
    path = Resume(folder).path
    os.truncate(path, int(left * path.stat().st_size) if left < 1 else left)


def cut_trajectory(folder, left):
    """The process died when it laid out the file, before it saved a state."""
    Resume(folder).path.unlink()
    os.truncate(folder / "trajectory.npy", left)


def lose_trajectory(folder, _):
    """The job failed after the trajectory had moved to its outputs, which are then deleted."""
    (folder / "trajectory.npy").unlink()


def abandon(folder, _):
    """The trajectory is lost; a new attempt lays out another and dies before it saves."""
    lose_trajectory(folder, _)
    Trainer(SNAPSHOTS, samples(), Resume(folder), "cpu")


def leave_rows(folder, _):
    """Rows of an abandoned attempt, which the new one does not write."""
    Resume(folder).path.unlink()
    np.load(folder / "trajectory.npy", mmap_mode="r+")[:] = 0


@pytest.mark.parametrize(
    ("spec", "harm", "left"),
    [
        *((SNAPSHOTS, cut_state, left) for left in (0, 5, 0.5, 0.99)),
        *((SNAPSHOTS, cut_trajectory, left) for left in (0, 60, 500)),
        (SNAPSHOTS, lose_trajectory, 0),
        (SNAPSHOTS, abandon, 0),
        (NO_SNAPSHOT, leave_rows, 0),
    ],
)
def test_a_training_that_cannot_be_resumed_starts_again(tmp_path, spec, harm, left):
    interrupted(spec, samples(), SavesEveryEpoch(tmp_path / "resume"), epoch=4)
    harm(tmp_path / "resume", left)
    done, epochs = resumed(spec, samples(), tmp_path / "resume")
    assert epochs == [1, 2, 3, 4, 5]
    assert_same(done, trained(spec, samples(), tmp_path / "undisturbed"))
    assert np.isnan(done.trajectory.array).all() == (spec is NO_SNAPSHOT)


@pytest.mark.parametrize("file", ["state", "trajectory.npy"])
@pytest.mark.parametrize("place", [0.001, 0.1, 0.3, 0.9])
def test_a_flipped_bit_does_not_change_the_result(tmp_path, file, place):
    interrupted(SNAPSHOTS, samples(), SavesEveryEpoch(tmp_path / "resume"), epoch=4)
    path = tmp_path / "resume" / file
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 16
    path.write_bytes(content)
    done, _ = resumed(SNAPSHOTS, samples(), tmp_path / "resume")
    assert_same(done, trained(SNAPSHOTS, samples(), tmp_path / "undisturbed"))


def test_the_state_of_another_training_is_not_used(tmp_path):
    """A run's folder is named by what was chosen: a changed default does not change the name."""
    spec, data = run(stop={"epochs": 4}, **ADAM), samples()
    interrupted(spec, data, SavesEveryEpoch(tmp_path / "resume"), epoch=2)
    done, epochs = resumed(spec, data, tmp_path / "resume", known_by="other")
    assert epochs == [1, 2, 3, 4]
    assert_same(done, trained(spec, data, tmp_path / "undisturbed"))
    assert Resume(tmp_path / "resume", "other").find() is not None
    assert Resume(tmp_path / "resume").find() is None


def test_a_state_from_another_place_is_neither_used_nor_lost(tmp_path):
    """Example: a node has lost its GPU, and the next attempt may run on a node that has one."""
    spec, data = run(stop={"epochs": 4}), samples()
    on_gpu = SavesEveryEpoch(tmp_path, place="cuda with 1 threads")
    on_cpu = SavesEveryEpoch(tmp_path, place="cpu with 1 threads")
    interrupted(spec, data, on_gpu, epoch=2)
    with pytest.raises(FlatlasError, match=r"first 2 epochs .* cuda with 1 threads.* cpu with 1"):
        train(spec, data, on_cpu, quiet)
    _, facts = on_gpu.find()
    assert facts["done_epochs"] == 2


def test_an_identity_follows_spec_code_and_bytes(tmp_path):
    files = [tmp_path / "images", tmp_path / "samples"]
    for number, file in enumerate(files):
        file.write_bytes(bytes([number]))
    copy = tmp_path / "copy"
    copy.write_bytes(files[0].read_bytes())
    spec = {"lr": 0.1, "seeds": [0, 1]}
    first = identity(spec, "abc", files)
    assert identity({"seeds": [0, 1], "lr": 0.1}, "abc", files) == first
    assert identity(spec, "abc", [copy, files[1]]) == first, "where a file lies"
    others = {
        identity(spec | {"lr": 0.2}, "abc", files),
        identity(spec, "abd", files),
        identity(spec, "abc", files[::-1]),
    }
    files[1].write_bytes(b"\2")
    others.add(identity(spec, "abc", files))
    assert len(others - {first}) == 4


def test_a_finished_training_keeps_its_last_saved_state_until_it_is_forgotten(tmp_path):
    """A job that fails after its training repeats only the last epoch."""
    spec, data = run(stop={"epochs": 4}), samples()
    first, _ = resumed(spec, data, tmp_path / "resume")
    second, epochs = resumed(spec, data, tmp_path / "resume")
    assert epochs == [4]
    assert_same(second, first)
    resume = Resume(tmp_path / "resume")
    for _ in range(2):
        resume.forget()
        assert resume.find() is None
        assert not (tmp_path / "resume").exists()


def test_saving_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("flatlas.training.resume.time.monotonic", lambda: clock[0])
    resume = Resume(tmp_path)
    assert resume.due()

    def slow_disk(arrays):
        clock[0] += 2.0
        return b""

    monkeypatch.setattr("flatlas.training.resume.save", slow_disk)
    resume.save({}, {})
    # 2 of 39 seconds are more than 5 %, 2 of 41 are not.
    for waited, due in ((0.0, False), (39.0, False), (2.0, True)):
        clock[0] += waited
        assert resume.due() == due


def test_a_save_that_fails_leaves_the_one_before(tmp_path, monkeypatch):
    resume = Resume(tmp_path)
    resume.save({"w": np.ones(3)}, {"epoch": 1})

    def full_disk(file):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        resume.save({"w": np.zeros(3)}, {"epoch": 2})
    arrays, facts = resume.find()
    assert (arrays["w"].tolist(), facts["epoch"]) == ([1.0, 1.0, 1.0], 1)
    assert [path.name for path in tmp_path.iterdir()] == [resume.path.name]
