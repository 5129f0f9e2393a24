"""Three estimates of the same probability, as a measure."""

from dataclasses import replace
from math import log

import pytest

from flatlas.errors import FlatlasError
from flatlas.measures import orthant
from flatlas.measures.gp_prior import measure_stack
from flatlas.measures.orthant import measure
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import HeNormal

SIZES = [1, 10, 40]


@pytest.fixture
def solution(make_solution, monkeypatch):
    """A net started by He's rule; its third image is its first one once more."""
    monkeypatch.setattr(orthant, "SAMPLES", 20_000)
    spec = DenseNet(
        family="dense", hidden=(8, 5), bias=True, init=HeNormal(scheme="he_normal", bias_std=0.5)
    )
    made = make_solution("biases", 1)
    inputs = made.inputs.clone()
    inputs[0, 2] = inputs[0, 0]
    return replace(made, net=build_net(spec, (1, 6, 6), 1), inputs=inputs)


@pytest.mark.parametrize("link", ["heaviside", "probit"])
def test_the_estimates_agree(solution, link):
    table = measure(solution, {"link": link, "sizes": SIZES})["summary"]
    assert table["size"].tolist() == SIZES
    assert table["converged_ep"].all() and table["converged_tilting"].all()
    for row in table.itertuples():
        assert row.standard_error < 0.02
        slack = 4 * row.standard_error + 1e-9
        # A single sign is even odds, which EP and tilting know exactly.
        error = 1e-9 if row.size == 1 else 0.1
        assert row.log10_p_ep == pytest.approx(row.log10_p_tilting, abs=slack + error)
        if link == "probit":
            assert row.log10_p_variational <= row.log10_p_tilting + slack
    assert table["log10_p_ep"][0] == pytest.approx(-log(2) / log(10), rel=1e-9)
    assert table["converged_variational"].all() == (link == "probit")
    assert table["log10_p_variational"].isna().all() == (link == "heaviside")


def test_it_is_the_prior_of_all_different_images(solution):
    """Without the image that comes twice; as `gp_prior` measures it, which merges."""
    table = measure(solution, {"link": "heaviside", "sizes": [64]})["summary"]
    [expected] = measure_stack([solution], {"link": "heaviside", "kernel": "arc_cosine"})
    assert table["log10_p_ep"].item() == pytest.approx(
        expected["summary"]["log10_p"].item(), rel=1e-9
    )


@pytest.mark.parametrize("changed", ["inputs", "test_inputs"])
def test_few_images_are_of_both_s_and_e(solution, changed):
    """Where either says something else, so does a third of the images."""
    options = {"link": "probit", "sizes": [20]}
    darker = replace(solution, **{changed: getattr(solution, changed) * 0.1})
    first, second = (measure(one, options)["summary"] for one in (solution, darker))
    assert first["log10_p_ep"].item() != second["log10_p_ep"].item()


def test_the_same_seed_gives_the_same_numbers(solution):
    options = {"link": "probit", "sizes": [12]}
    first, again = (measure(solution, options)["summary"] for _ in range(2))
    assert first.equals(again)
    other = measure(replace(solution, seed=5), options)["summary"]
    assert other["log10_p_ep"].item() != first["log10_p_ep"].item()


def test_more_images_than_there_are(solution):
    with pytest.raises(FlatlasError, match="65 different images, but S and E have 64"):
        measure(solution, {"link": "probit", "sizes": [10, 65]})
