"""A checkpoint that does not fit its training images is not converged, and its job says so."""

import numpy as np
import pandas as pd
import pytest
import torch
from pydantic import ValidationError
from safetensors.numpy import save_file
from short_runs import quiet, run, samples, trained

from flatlas.data.images import Images, write_images
from flatlas.errors import FlatlasError
from flatlas.evidence.material import Material
from flatlas.plan.data_specs import Normalize
from flatlas.plan.tables import OUTCOMES
from flatlas.plan.training_specs import Expected
from flatlas.plotting.trainings import small_print
from flatlas.reasons import (
    ABOVE_EXPECTED,
    ALL_EPOCHS,
    AT_CHANCE,
    DIVERGED,
    LOSS_UNEXPECTED,
    SWAPPED,
)
from flatlas.report.facts import facts
from flatlas.store.arrays import read_arrays
from flatlas.store.tables import read_table, write_table
from flatlas.training.evaluation import Evaluation
from flatlas.training.given_weights import advice, doubt
from flatlas.training.moments import kept_moments
from flatlas.training.resume import Resume
from flatlas.training.task import TrainingTask
from flatlas.training.trainer import train

COUNT = 40
HALF = {"mean": [0.5], "std": [0.25]}
MODULE = """
from torch import nn

def sign():
    return nn.Sequential(nn.Flatten(), nn.Linear(1, 2))
"""


@pytest.fixture
def ended(working_folder):
    """Ends a checkpoint whose label is the sign of its one pixel.

    It suits images around 0. Without normalization all are above, with the same label.
    """
    (working_folder / "sign_net.py").write_text(MODULE)
    weights = {"1.weight": np.array([[-1], [1]]), "1.bias": np.zeros(2)}
    save_file({k: v.astype(np.float32) for k, v in weights.items()}, "sign.safetensors")

    def of(normalize=None, expected=None, labels=None, **chosen):
        """The spec, outcomes and history of the checkpoint on images that are dark or bright."""
        bright = np.arange(COUNT) % 2
        pixels = (40 + 160 * bright).astype(np.uint8).reshape(-1, 1, 1, 1)
        labels = bright if labels is None else labels
        write_images("i.safetensors", Images(pixels, labels, pixels, labels), normalize)
        parts = {"train": labels, "test": labels}
        rows = [
            {"seed": seed, "part": part, "index": k, "label": label, "true_label": label}
            for seed in (0, 1)
            for part, of_part in parts.items()
            for k, label in enumerate(of_part)
        ]
        write_table("s.parquet", pd.DataFrame(rows))
        net = {"family": "own", "module": "sign_net:sign", "weights": "sign.safetensors"}
        usual = {"stop": {"epochs": 0}, "seeds": (0, 1), "input_shape": (1, 1, 1), "outputs": 2}
        spec = run(net=net, expected=expected, **usual | chosen)
        outputs = {"weights": "w.safetensors", "history": "h.parquet", "outcomes": "o.csv"}
        outputs["times"] = "t.csv"
        TrainingTask(
            spec=spec.resolved(), images="i.safetensors", samples="s.parquet", start=None,
            outputs=outputs, resume="resume", identity="", place="",
        ).run("cpu", quiet)  # fmt: skip
        outcomes = read_table("o.csv")
        assert all(f"`{one}`" in OUTCOMES["reason"].meaning for one in outcomes["reason"])
        return spec, outcomes, read_table("h.parquet")

    return of


def test_a_missing_normalization_is_seen_and_named(ended):
    spec, outcomes, history = ended()
    assert history["train_error"].tolist() == [0.5, 0.5]
    assert outcomes["reason"].tolist() == [AT_CHANCE] * 2
    assert not outcomes["converged"].any()
    said = advice(spec.resolved(), outcomes, history)
    for words in (
        "'sign.safetensors'",
        "50.0% of",
        "2 of 2",
        "normalize",
        "not set",
        "train_error: 0.5",
    ):
        assert words in said
    material = Material({"outcomes": outcomes.assign(sweep="s", run="r")})
    for text in (small_print(material), facts(material.realizations(), ["pictures"])):
        assert f"{AT_CHANCE}: 2" in text
    # It is measured nevertheless.
    assert len(kept_moments(["final"], outcomes.loc[0])) == 1
    assert (read_arrays("w.safetensors")["final/fc.weight"] == [[-1, 1]]).all()


def test_with_the_right_normalization_there_is_nothing_to_say(ended):
    spec, outcomes, history = ended(Normalize.model_validate(HALF))
    assert history["train_error"].tolist() == [0, 0]
    assert outcomes["reason"].tolist() == [ALL_EPOCHS] * 2
    assert outcomes["converged"].all()
    assert advice(spec.resolved(), outcomes, history) is None


def test_the_error_that_the_owner_states_decides(ended):
    """It decides even if it is that of chance, or if there is only one class."""
    normalize = Normalize.model_validate(HALF)
    assert ended(expected={"train_error": 0.5})[1]["converged"].all()
    wrong = np.arange(COUNT) % 2
    wrong[::10] = 1
    for share, reason in ((0.0, ABOVE_EXPECTED), (0.1, ALL_EPOCHS)):
        _, outcomes, history = ended(normalize, {"train_error": share}, wrong)
        assert history["train_error"].tolist() == [0.1, 0.1]
        assert outcomes["reason"].tolist() == [reason] * 2


def test_a_loss_shows_a_wrong_normalization_that_leaves_every_label(ended):
    """The logits are ∓(x, -x): the loss of a pixel at distance x is log(1 + exp(-2x))."""
    wide = Normalize(mean=(120 / 255,), std=(0.01,))
    right = {"train_error": 0.0, "train_loss": float(np.log1p(np.exp(-2 * 80 / 255 / 0.25)))}
    near = Normalize(mean=(120 / 255,), std=(0.25,))
    for normalize, reason in ((near, ALL_EPOCHS), (wide, LOSS_UNEXPECTED)):
        spec, outcomes, history = ended(normalize, right)
        assert history["train_error"].tolist() == [0, 0]
        assert outcomes["reason"].tolist() == [reason] * 2
    assert "with a loss of" in advice(spec.resolved(), outcomes, history)


def test_swapped_classes_are_no_matter_of_normalization(ended):
    normalize, swapped = Normalize.model_validate(HALF), 1 - np.arange(COUNT) % 2
    for expected in (None, {"train_error": 0.0}):
        _, outcomes, _ = ended(normalize, expected, swapped)
        assert outcomes["reason"].tolist() == [SWAPPED] * 2


def test_trained_weights_and_weights_that_are_no_numbers_have_their_own_reasons(ended):
    """The few steps from this start change no label."""
    chosen = {"stop": {"epochs": 1}, "optimizer": {"name": "sgd", "lr": 1e-6}}
    _, outcomes, history = ended(**chosen)
    assert history["train_error"].iloc[-1] == 0.5
    assert outcomes["reason"].tolist() == [ALL_EPOCHS] * 2
    huge = {"1.weight": np.array([[-1e34], [1e34]]), "1.bias": np.zeros(2)}
    save_file({k: v.astype(np.float32) for k, v in huge.items()}, "sign.safetensors")
    far = Normalize(mean=(0.0,), std=(1e-6,))
    assert ended(far)[1]["reason"].tolist() == [DIVERGED] * 2


# Labels with a best constant answer that errs on a half, on a tenth, on none.
EVEN, RARE, ONE = (torch.tensor([0] * (1000 - others) + [1] * others) for others in (500, 100, 0))


@pytest.mark.parametrize(
    ("error", "labels", "expected", "reason"),
    [
        (0.24, EVEN, None, None),
        (0.25, EVEN, None, AT_CHANCE),
        (0.04, RARE, None, None),
        (0.1, RARE, None, AT_CHANCE),
        (0.9, ONE, None, None),
        (0.049, EVEN, 0.0, None),
        (0.051, EVEN, 0.0, ABOVE_EXPECTED),
        (0.5, EVEN, 0.5, None),
        # Three standard errors of a half are 0.047 of 1,000 images, and 0.47 of ten.
        (0.56, EVEN, 0.5, ABOVE_EXPECTED),
        (0.9, EVEN[::100], 0.5, None),
        (0.9, EVEN[::50], 0.5, ABOVE_EXPECTED),
        # A constant answer is right about half of them at best, and wrong about nine tenths.
        (0.94, EVEN, None, AT_CHANCE),
        (0.96, EVEN, None, SWAPPED),
        (0.9, RARE, None, AT_CHANCE),
        (1.0, RARE, 0.0, SWAPPED),
        (1.0, EVEN, 1.0, None),
    ],
)
def test_how_much_is_too_much(error, labels, expected, reason):
    stated = None if expected is None else Expected(train_error=expected)
    assert doubt(Evaluation(0.1, error, 0.1, error), labels, stated) == reason


@pytest.mark.parametrize(("loss", "doubted"), [(0.4, 1), (0.6, 0), (1.9, 0), (2.1, 1)])
def test_how_far_from_the_stated_loss_is_too_far(loss, doubted):
    found = Evaluation(1e-3 * loss, 0.0, 0.1, 0.0)
    reason = doubt(found, EVEN, Expected(train_loss=1e-3))
    assert reason == (LOSS_UNEXPECTED if doubted else None)


def test_a_stated_loss_leaves_the_error_to_chance():
    assert doubt(Evaluation(1.0, 0.5, 1.0, 0.5), EVEN, Expected(train_loss=1.0)) == AT_CHANCE


def test_nothing_expected_is_refused():
    with pytest.raises(ValidationError, match="train_loss"):
        Expected()


SPECTRAL = """
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

def net():
    return nn.Sequential(nn.Flatten(), spectral_norm(nn.Linear(6, 4)), nn.Linear(4, 3))
"""


@pytest.fixture
def spectral(working_folder):
    """A net with a checkpoint and buffers that training changes, and its weights after 0 epochs."""
    (working_folder / "spectral_net.py").write_text(SPECTRAL)
    exec(SPECTRAL, made := {})
    torch.manual_seed(0)
    save_file({k: v.numpy() for k, v in made["net"]().state_dict().items()}, "net.safetensors")
    net = {"family": "own", "module": "spectral_net:net", "weights": "net.safetensors"}
    return net, trained(run(net=net, stop={"epochs": 0}), samples(), working_folder / "state")


def test_a_checkpoint_with_buffers_that_training_changes_is_not_trained_further(spectral, tmp_path):
    net, _ = spectral
    with pytest.raises(FlatlasError, match=r"1\.parametrizations"):
        trained(run(net=net), samples(), tmp_path)


def test_buffers_that_training_changes_stay_with_the_inner_layers_of_their_checkpoint(
    spectral, tmp_path
):
    net, measured = spectral
    chosen = {"net": net, "stop": {"epochs": 0}}

    def started(*fresh):
        spec = run(**chosen, start={"run": run(**chosen).resolved(), "fresh": fresh})
        folder = tmp_path / f"fresh{len(fresh)}"
        folder.mkdir(exist_ok=True)
        done = train(spec, samples(), Resume(folder), quiet, start=measured.weights)
        return {n for n, one in done.weights.items() if (one != measured.weights[n]).any()}

    assert started() == set()
    assert started("fc") == {"final/fc.weight", "final/fc.bias"}
    with pytest.raises(FlatlasError, match=r"1\.parametrizations"):
        started("features")
