"""Training that starts from another run's solution, and layers that stay as they are."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from plain_training import sgd
from safetensors.torch import save_file
from short_runs import NAMES, NET, SavesEveryEpoch, assert_same, interrupted, quiet, run, samples

from flatlas.errors import FlatlasError
from flatlas.nets import build_net
from flatlas.training.resume import Resume
from flatlas.training.trainer import train

FIRST = run(stop={"epochs": 2}, seeds=(0, 1, 2, 3))
FROZEN = ["fc1.weight", "fc1.bias", "fc3.weight", "fc3.bias"]


def second(**chosen):
    """A run on fewer realizations, in another order, from the solutions of FIRST."""
    start = {"run": FIRST.resolved(), "fresh": ["fc2"]}
    return run(**{"seeds": (2, 0), "start": start, "frozen": ("fc1", "fc3")} | chosen)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    data = samples(FIRST.seeds)
    return train(FIRST, data, Resume(tmp_path_factory.mktemp("first")), quiet).weights


def trained(spec, folder, found):
    return train(spec, samples(spec.seeds), Resume(folder), quiet, start=found)


def test_it_begins_where_the_other_ended(tmp_path, found):
    """Seeds match. Fresh weights are neither the other run's initial weights nor its solution."""
    began = trained(second(checkpoints=(0,)), tmp_path, found).weights
    for name in FROZEN:
        mine = began[f"epoch-00000/{name}"]
        assert mine.tobytes() == found[f"final/{name}"][[2, 0]].tobytes()
    fresh = began["epoch-00000/fc2.weight"]
    net = build_net(FIRST.net, FIRST.input_shape, FIRST.outputs)
    for other in (found["final/fc2.weight"][[2, 0]], net.initial((2, 0))["fc2.weight"].numpy()):
        assert (fresh != other).all()
    assert (fresh[0] != fresh[1]).all()
    bound = np.sqrt(6 / (8 + 6))
    assert 0.8 * bound < np.abs(fresh).max() <= bound


def test_each_start_in_a_chain_has_fresh_weights_of_its_own(tmp_path, found):
    spec, weights, drawn = FIRST, found, []
    for link in range(3):
        start = {"run": spec.resolved(), "fresh": ["fc2"]}
        spec = second(stop={"epochs": 0}, start=start)
        weights = trained(spec, tmp_path / f"{link}", weights).weights
        drawn.append(weights["final/fc2.weight"])
    for one, other in combinations(drawn, 2):
        assert (one != other).all()
    # Published runs have one start: the name of its stream must stay.
    net = build_net(FIRST.net, FIRST.input_shape, FIRST.outputs)
    np.testing.assert_array_equal(drawn[0], net.initial((2, 0), "fresh weights")["fc2.weight"])


OWN = {"family": "own", "module": "dropping:Dropping", "arguments": {"width": 8}}
GIVEN = {
    "dense": (NET, "fc3", {"a": (8, 6), "b": (6, 8), "c": (3, 6)}),
    "own": (OWN, "fc", {"inner.1": (8, 6), "last": (3, 8)}),
}


@pytest.mark.parametrize("case", GIVEN)
def test_fresh_layers_of_a_net_with_given_weights_are_drawn(tmp_path, monkeypatch, case):
    """Both runs name the file, since a run starts only from one with the same net."""
    monkeypatch.chdir(Path(__file__).parent)
    net, last, shapes = GIVEN[case]
    file = str(tmp_path / "fives.safetensors")
    biases = {f"{layer}.bias": torch.full(shape[:1], 5.0) for layer, shape in shapes.items()}
    weights = {f"{layer}.weight": torch.full(shape, 5.0) for layer, shape in shapes.items()}
    save_file(weights | biases, file)
    first = run(net=net | {"weights": file}, stop={"epochs": 0})
    start = {"run": first.resolved(), "fresh": [last]}
    spec = run(net=net | {"weights": file}, stop={"epochs": 0}, seeds=(2, 0), start=start)
    found = train(first, samples(), Resume(tmp_path / "first"), quiet).weights
    began = trained(spec, tmp_path / "second", found).weights
    for name, array in began.items():
        assert (array == 5).all() != name.startswith(f"final/{last}."), name
    one, other = began[f"final/{last}.weight"]
    assert (one != other).all() and np.abs(one).max() < 1


def test_without_fresh_layers_it_begins_with_the_whole_solution(tmp_path, found):
    spec = second(start={"run": FIRST.resolved()}, frozen=None, checkpoints=(0,))
    began = trained(spec, tmp_path, found).weights
    for name in (*FROZEN, "fc2.weight", "fc2.bias"):
        assert began[f"epoch-00000/{name}"].tobytes() == found[f"final/{name}"][[2, 0]].tobytes()


def test_layers_that_are_not_frozen_follow_the_plain_loop(tmp_path, found):
    spec = second(batch=5, checkpoints=(0,))
    done, data = trained(spec, tmp_path, found).weights, samples(spec.seeds)
    for member, seed in enumerate(spec.seeds):
        began, ended = (
            {name: torch.from_numpy(done[f"{moment}/{name}"][member]) for name in NAMES}
            for moment in ("epoch-00000", "final")
        )
        expected = sgd(spec, data.of(seed), seed, began, "shuffling after 1 starts")
        torch.testing.assert_close(ended, expected, rtol=0, atol=1e-5)


OTHERS = {
    "sgd": {},
    "adamw": {"optimizer": {"name": "adamw", "lr": 0.01, "decay": 0.1}},
    "entropy_sgd": {"optimizer": {"name": "entropy_sgd", "noise": 0.1}},
    "penalty": {"penalty": {"coefficient": 0.01}},
    "averaging": {"average": {"from_epoch": 1}},
    "dpsgd": {"learners": {"kind": "dpsgd", "count": 3}, "batch": 2},
    "ssgd": {"learners": {"kind": "ssgd", "count": 3}, "batch": 2},
}


@pytest.mark.parametrize("other", OTHERS)
def test_no_option_moves_a_frozen_layer(tmp_path, found, other):
    weights = trained(second(**OTHERS[other]), tmp_path, found).weights
    for name in FROZEN:
        still = found[f"final/{name}"][[2, 0]]
        assert weights[f"final/{name}"].tobytes() == still.tobytes()
        if "learners" in OTHERS[other]:
            each = weights[f"final.learners/{name}"]
            assert each.tobytes() == np.repeat(still[:, np.newaxis], 3, axis=1).tobytes()
    assert np.isfinite(weights["final/fc2.weight"]).all()


def test_an_interruption_leaves_no_trace(tmp_path, found):
    """Some members have left the stack: the frozen weights must be those of the others."""
    stop = {"epochs": 60, "loss_below": 0.9, "extra_epochs": 2}
    spec = second(seeds=(2, 0, 3), stop=stop, snapshots="fc2")
    undisturbed = trained(spec, tmp_path / "undisturbed", found)
    ends = undisturbed.outcomes.epoch
    assert ends.nunique() > 1
    resume = SavesEveryEpoch(tmp_path / "resume")
    interrupted(spec, samples(spec.seeds), resume, ends.min(), start=found)
    assert_same(trained(spec, tmp_path / "resume", found), undisturbed)


def test_a_realization_of_a_run_that_diverged_diverges_at_once(tmp_path, found):
    lost = {name: array.copy() for name, array in found.items()}
    for array in lost.values():
        array[2] = np.nan
    outcomes = trained(second(), tmp_path, lost).outcomes
    assert outcomes.reason.tolist() == ["diverged", "all epochs run"]


@pytest.mark.parametrize("lost", ["all", "one", "some realizations"])
def test_weights_of_another_run_are_refused(tmp_path, found, lost):
    wrong = {
        "all": None,
        "one": {name: array for name, array in found.items() if name != "final/fc3.bias"},
        "some realizations": {name: array[:3] for name, array in found.items()},
    }[lost]
    with pytest.raises(FlatlasError, match="4 realizations"):
        trained(second(), tmp_path, wrong)
