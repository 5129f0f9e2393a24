"""A training that was interrupted goes on as if nothing had happened, to the last bit."""

import os
import signal
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from kernels import FLOAT32, needs_compiler
from short_runs import assert_same, run, samples, trained

from flatlas.errors import FlatlasError
from flatlas.training.resume import Resume, identity
from flatlas.training.trainer import Trainer, train

STOP = {"epochs": 40, "loss_below": 0.6}


class SavesEveryEpoch(Resume):
    """Saves at each occasion, however long it takes."""

    def due(self):
        return True


class Stopped(Exception):
    """What stops a training in these tests."""


def stop_after(epoch):
    def stop(done, *_, **__):
        if done == epoch:
            raise Stopped

    return stop


def interrupted(spec, data, folder, epoch, kernel=None):
    """Train to the end of an epoch, and no further."""
    with pytest.raises(Stopped):
        train(spec, data, SavesEveryEpoch(folder), stop_after(epoch), kernel=kernel)


def resumed(spec, data, folder, kernel=None):
    """Go on, and tell after which epochs."""
    epochs = []

    def note(done, *_, **__):
        epochs.append(done)

    return train(spec, data, SavesEveryEpoch(folder), note, kernel=kernel), epochs


def optimizer(name, **values):
    return {"optimizer": {"name": name, **values}}


DROPOUT = {"family": "dense", "hidden": (8, 6), "bias": True, "dropout": 0.1}
STAGES = ({"channels": 3, "kernel": 2}, {"channels": 4, "kernel": 2})
NORMED = {
    "net": {"family": "preactivation", "depth": 8, "channels": 2},
    "input_shape": (1, 4, 4),
    "checkpoints": (3,),
    "average": {"from_epoch": 3},
    "stop": {"epochs": 40, "loss_below": 0.3},
}
CASES = {
    "sgd": {},
    "momentum": optimizer("momentum", lr=0.05, momentum=0.8),
    "adam": optimizer("adam", lr=0.02),
    "adamw": optimizer("adamw", lr=0.02),
    "rmsprop": optimizer("rmsprop", lr=0.01),
    "adagrad": optimizer("adagrad", lr=0.1),
    # Seven Langevin steps a round and six minibatches an epoch: interrupted within a round.
    "entropy_sgd": optimizer("entropy_sgd", inner_lr=0.5, noise=0.01, langevin_steps=7),
    "dropout": {"net": DROPOUT},
    "ssgd": {"learners": {"kind": "ssgd", "count": 2}, "batch": 2},
    "dpsgd": {"learners": {"kind": "dpsgd", "count": 3}, "batch": 1, "net": DROPOUT},
    "averaging": {"average": {"from_epoch": 2}},
    "snapshots": {"snapshots": "fc2", "stop": STOP | {"extra_epochs": 3}},
    "checkpoints": {"checkpoints": (0, 3, 7, 9, 20), "stop": STOP | {"extra_epochs": 2}},
    "penalty": {"penalty": {"form": "unsquared", "coefficient": 0.01}},
    "schedule": {"schedule": {"kind": "linear_tail", "floor": 0.5}},
    "frozen": {"frozen": ("fc2",), "net": DROPOUT},
    "convolutional": {
        "net": {"family": "convolutional", "stages": STAGES, "hidden": (8,)},
        "input_shape": (1, 4, 4),
    },
    "batch norm": {**NORMED, "optimizer": {"name": "momentum", "lr": 0.05}},
    "bfloat16": {**NORMED, "precision": "bfloat16"},
    # It draws from torch's own stream.
    "own": {
        "net": {"family": "own", "module": "dropping:Dropping", "arguments": {"width": 8}},
        "learners": {"kind": "dpsgd", "count": 3},
        "batch": 2,
    },
}


DENSE = {name for name, case in CASES.items() if case.get("net", DROPOUT)["family"] == "dense"}


@pytest.mark.parametrize(
    ("case", "kernel"),
    [
        *((case, None) for case in CASES),
        *(pytest.param(case, FLOAT32, marks=needs_compiler) for case in sorted(DENSE)),
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
    interrupted(spec, data, tmp_path / "resume", ends.min(), kernel)
    done, epochs = resumed(spec, data, tmp_path / "resume", kernel)
    assert epochs == list(range(ends.min() + 1, ends.max() + 1))
    assert_same(done, undisturbed)
    assert len(done.times) == len(undisturbed.times)


def test_a_killed_process_loses_only_what_it_had_not_saved(tmp_path):
    spec, data = run(stop={"epochs": 6}, **CASES["adam"]), samples()

    def until_killed():
        def kill(done, *_, **__):
            if done == 3:
                os.kill(os.getpid(), signal.SIGKILL)

        train(spec, data, SavesEveryEpoch(tmp_path / "resume"), kill)

    process = get_context("fork").Process(target=until_killed)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    done, epochs = resumed(spec, data, tmp_path / "resume")
    assert epochs == [4, 5, 6]
    assert_same(done, trained(spec, data, tmp_path / "undisturbed"))


SNAPSHOTS = {"snapshots": "fc2", "stop": {"epochs": 2, "extra_epochs": 3}}


@pytest.mark.parametrize("left", [0, 5, 0.5, 0.99])
def test_a_state_that_is_not_whole_is_as_good_as_none(tmp_path, left):
    spec, data = run(**SNAPSHOTS), samples()
    interrupted(spec, data, tmp_path / "resume", epoch=4)
    state = Resume(tmp_path / "resume").path
    whole = state.read_bytes()
    state.write_bytes(whole[: left if isinstance(left, int) else int(left * len(whole))])
    done, epochs = resumed(spec, data, tmp_path / "resume")
    assert epochs == [1, 2, 3, 4, 5]
    assert_same(done, trained(spec, data, tmp_path / "undisturbed"))


@pytest.mark.parametrize("left", [0, 60, 500])
def test_a_trajectory_that_was_just_begun_is_begun_anew(tmp_path, left):
    """The process died while it laid out the file: no state was saved, and the file is short."""
    spec, data = run(**SNAPSHOTS), samples()
    undisturbed = trained(spec, data, tmp_path / "undisturbed")
    whole = undisturbed.trajectory.path.read_bytes()
    (tmp_path / "resume").mkdir()
    (tmp_path / "resume" / "trajectory.npy").write_bytes(whole[:left])
    assert_same(resumed(spec, data, tmp_path / "resume")[0], undisturbed)


def test_no_row_of_an_abandoned_attempt_stays(tmp_path):
    """Rows that the new attempt does not write are NaN, whatever the file held."""
    data = samples()
    spec = run(snapshots="fc2", stop={"epochs": 2, "extra_epochs": 2, "loss_below": 1e-9})
    undisturbed = trained(spec, data, tmp_path / "undisturbed")
    assert np.isnan(undisturbed.trajectory.array).all()
    (tmp_path / "resume").mkdir()
    old = np.zeros_like(undisturbed.trajectory.array)
    np.save(tmp_path / "resume" / "trajectory.npy", old)
    assert_same(resumed(spec, data, tmp_path / "resume")[0], undisturbed)


def test_a_state_without_its_trajectory_is_as_good_as_none(tmp_path):
    """A job that failed after the trajectory had moved to its outputs, which are then deleted."""
    spec, data = run(**SNAPSHOTS), samples()
    first, _ = resumed(spec, data, tmp_path / "resume")
    expected = np.array(first.trajectory.array)
    first.trajectory.finish(tmp_path / "outputs" / "trajectory.npy")
    second, epochs = resumed(spec, data, tmp_path / "resume")
    assert epochs == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(second.trajectory.array, expected)


def test_a_state_that_was_given_up_does_not_come_back(tmp_path):
    """Its trajectory is gone; the new attempt lays out another and dies before it has saved."""
    spec, data = run(**SNAPSHOTS), samples()
    interrupted(spec, data, tmp_path / "resume", epoch=4)
    (tmp_path / "resume" / "trajectory.npy").unlink()
    Trainer(spec, data, Resume(tmp_path / "resume"), "cpu")
    done, epochs = resumed(spec, data, tmp_path / "resume")
    assert epochs == [1, 2, 3, 4, 5]
    assert_same(done, trained(spec, data, tmp_path / "undisturbed"))


def test_a_state_of_something_else_is_not_taken_up(tmp_path):
    """A run's folder is named by what was chosen; a changed default leaves the name alone."""
    spec, data = run(stop={"epochs": 4}, **CASES["adam"]), samples()
    interrupted(spec, data, tmp_path / "resume", epoch=2)
    epochs = []
    other = SavesEveryEpoch(tmp_path / "resume", "other")
    done = train(spec, data, other, lambda done, *_, **__: epochs.append(done))
    assert epochs == [1, 2, 3, 4]
    assert_same(done, trained(spec, data, tmp_path / "undisturbed"))
    assert Resume(tmp_path / "resume", "other").find() is not None
    assert Resume(tmp_path / "resume").find() is None


def test_a_state_from_another_place_is_neither_taken_up_nor_lost(tmp_path):
    """A node whose GPU is gone: the next attempt may get one that has it."""
    spec, data = run(stop={"epochs": 4}), samples()
    on_gpu = SavesEveryEpoch(tmp_path, place="cuda with 1 threads")
    on_cpu = SavesEveryEpoch(tmp_path, place="cpu with 1 threads")
    with pytest.raises(Stopped):
        train(spec, data, on_gpu, stop_after(2))
    told = "first 2 epochs of this training, made by cuda with 1 threads; here .* by cpu with 1"
    with pytest.raises(FlatlasError, match=told):
        train(spec, data, on_cpu, stop_after(4))
    _, facts = on_gpu.find()
    assert facts["done_epochs"] == 2


def test_an_identity_moves_with_spec_code_and_bytes(tmp_path):
    files = [tmp_path / "images", tmp_path / "samples"]
    for number, file in enumerate(files):
        file.write_bytes(bytes([number]))
    copy = tmp_path / "copy"
    copy.write_bytes(files[0].read_bytes())
    spec = {"lr": 0.1, "seeds": [0, 1]}
    usual = (spec, "abc", files)
    first = identity(*usual)
    assert identity({"seeds": [0, 1], "lr": 0.1}, *usual[1:]) == first
    assert identity(spec, "abc", [copy, files[1]]) == first, "where a file lies"
    others = {
        identity(spec | {"lr": 0.2}, *usual[1:]),
        identity(spec, "abd", *usual[2:]),
        identity(spec, "abc", files[::-1]),
    }
    files[1].write_bytes(b"\2")
    others.add(identity(*usual))
    assert len(others - {first}) == 4


def test_a_job_that_failed_after_its_training_trains_only_what_was_not_saved(tmp_path):
    spec, data = run(stop={"epochs": 4}), samples()
    first, _ = resumed(spec, data, tmp_path)
    second, epochs = resumed(spec, data, tmp_path)
    assert epochs == [4]
    assert_same(second, first)


def test_saving_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("flatlas.training.resume.time.monotonic", lambda: clock[0])
    resume = Resume(tmp_path)
    assert resume.due()

    def slow_disk(*_):
        clock[0] += 2.0

    monkeypatch.setattr("flatlas.training.resume.write_arrays", slow_disk)
    resume.save({}, {})
    assert not resume.due()
    clock[0] += 39.0  # 2 of 39 seconds would be more than 5 %
    assert not resume.due()
    clock[0] += 2.0
    assert resume.due()


def test_a_save_that_fails_leaves_the_one_before(tmp_path, monkeypatch):
    resume = Resume(tmp_path)
    resume.save({"w": np.ones(3)}, {"epoch": 1})

    def full_disk(arrays, path):
        path.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr("flatlas.store.arrays.save_file", full_disk)
    with pytest.raises(OSError, match="no space"):
        resume.save({"w": np.zeros(3)}, {"epoch": 2})
    arrays, facts = resume.find()
    assert (arrays["w"].tolist(), facts["epoch"]) == ([1.0, 1.0, 1.0], 1)
    assert [path.name for path in tmp_path.iterdir()] == [resume.path.name]


def test_a_training_that_is_done_is_forgotten(tmp_path):
    trained(run(), samples(), tmp_path / "resume")
    resume = Resume(tmp_path / "resume")
    assert resume.find() is not None
    resume.forget()
    assert resume.find() is None
    assert not (tmp_path / "resume").exists()
    resume.forget()
