"""What an α-scaling leaves as it is, and what not, of a binary net."""

import pytest
import torch

from flatlas.measures import hessian, norms
from flatlas.measures.survival import measure, neuron_factors, scalings
from flatlas.plan.initializations import HeNormal
from flatlas.plan.measure_specs import MEASURES

OPTIONS = {
    "link": "probit", "layer": "fc1", "factor": 3.0, "dual_layer": "fc2", "top": 5, "box": 1e-4,
    "batch": 8, "pairs": 4, "minibatches": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def solution(make_solution):
    found = make_solution("biases", outputs=1)
    found.net.init = HeNormal(scheme="he_normal", bias_std=1.0)
    return found


@pytest.fixture(scope="module")
def tables(solution):
    return measure(solution, OPTIONS)


def values(tables, table, column):
    """Before, and after both scalings."""
    rows = tables[table].groupby("scaling", sort=False)[column].first()
    assert list(rows.index) == ["none", "layer", "neurons"]
    return rows.to_numpy()


def test_every_scaling_has_every_table(tables):
    assert tables.keys() == set(MEASURES["survival"].tables)
    for table in tables.values():
        assert set(table["scaling"]) == {"none", "layer", "neurons"}


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("prior", "log10_p"),
        ("norms", "path_norm"),
        ("norms", "normalized_margin_least"),
        ("norms", "test_loss"),
        ("duality", "pairwise_gap"),
        ("kl_ball", "regret"),
    ],
)
def test_what_only_knows_the_function_stays(tables, table, column):
    before, *after = values(tables, table, column)
    assert after == pytest.approx([before] * 2, rel=1e-6)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("norms", "weight_norm"),
        ("hessian", "trace"),
        ("sharpness", "sharpness"),
        ("duality", "T_g"),
        ("regret", "regret"),
    ],
)
def test_what_knows_the_weights_moves(tables, table, column):
    before, *after = values(tables, table, column)
    assert all(abs(one / before - 1) > 0.01 for one in after)


def test_duality_moves_as_the_layer_below_does(tables):
    """With the layer below times α, and W over α: Δw over α, g times α."""
    for column, power in (("T_g", 2), ("T_w", -2)):
        before, layer, _ = values(tables, "duality", column)
        assert layer / before == pytest.approx(3.0**power, rel=1e-6)


def test_the_gap_along_directions_stays_where_the_layer_is_scaled_as_a_whole(tables):
    """Neurons scaled apart make other weights the smallest that are dual."""
    before, layer, neurons = values(tables, "duality", "dual_gap")
    assert layer == pytest.approx(before, rel=1e-6)
    assert abs(neurons / before - 1) > 0.01


def test_each_table_is_what_the_measure_itself_gives(solution, tables):
    scaled = dict(scalings(solution, OPTIONS))
    alone = norms.measure(scaled["neurons"], {})["summary"].loc[0]
    told = tables["norms"].set_index("scaling").loc["neurons"]
    assert told.to_dict() == alone.to_dict()
    alone = hessian.measure(scaled["layer"], {"top": 5, "probes": 100, "tolerance": 1e-8})[
        "summary"
    ].loc[0]
    told = tables["hessian"].set_index("scaling").loc["layer"]
    assert told.to_dict() == alone.to_dict()


def test_neurons_have_factors_of_their_own_and_the_same_each_time(solution):
    factors = neuron_factors(solution, OPTIONS)
    assert factors.shape == (8,)
    assert len(factors.unique()) == 8
    assert ((factors > 1 / 3) & (factors < 3)).all()
    torch.testing.assert_close(factors, neuron_factors(solution, OPTIONS), rtol=0, atol=0)
