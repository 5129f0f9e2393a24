"""The changes of a binary net's measures under α-scalings."""

import pytest
import torch
from solutions import make_solution

from flatlas.measures import hessian, measure, norms
from flatlas.measures.survival import neuron_factors, scalings

OPTIONS = {
    "link": "probit", "layer": "fc1", "factor": 3.0, "dual_layer": "fc2", "top": 5, "box": 1e-4,
    "batch": 8, "pairs": 4, "minibatches": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def solution():
    return make_solution("he", outputs=1)


@pytest.fixture(scope="module")
def tables(solution):
    return measure("survival", solution, OPTIONS)


def values(tables, table, column):
    """Before, and after both scalings."""
    rows = tables[table].groupby("scaling", sort=False)[column].first()
    assert list(rows.index) == ["none", "layer", "neurons"]
    return rows.to_numpy()


@pytest.mark.parametrize(
    ("table", "column", "changes"),
    [
        ("prior", "log10_p", False),
        ("norms", "path_norm", False),
        ("norms", "normalized_margin_least", False),
        ("norms", "normalized_margin_tenth", False),
        ("norms", "test_loss", False),
        ("duality", "pairwise_gap", False),
        ("kl_ball", "regret", False),
        ("norms", "weight_norm", True),
        ("hessian", "trace", True),
        ("sharpness", "sharpness", True),
        ("duality", "T_g", True),
        ("regret", "regret", True),
        ("contrast", "of_mean", True),
    ],
)
def test_measures_of_the_function_survive_and_measures_of_the_weights_do_not(
    tables, table, column, changes
):
    before, *after = values(tables, table, column)
    if changes:
        assert all(abs(one / before - 1) > 0.01 for one in after)
    else:
        assert after == pytest.approx([before] * 2, rel=1e-6)


@pytest.mark.parametrize(("column", "power"), [("T_g", 2), ("T_w", -2), ("dual_gap", 0)])
def test_duality_scales_with_the_layer_below(tables, column, power):
    """With the layer below times α, and W over α: Δw over α, g times α, the gap the same.

    With a separate α for each neuron other weights are the smallest dual ones.
    """
    before, layer, neurons = values(tables, "duality", column)
    assert layer / before == pytest.approx(3.0**power, rel=1e-6)
    assert abs(neurons / before - 1) > 0.01


@pytest.mark.parametrize(
    ("module", "options", "scaling"),
    [(norms, {}, "neurons"), (hessian, {"top": 5, "probes": 100, "tolerance": 1e-8}, "layer")],
)
def test_each_table_is_that_of_the_measure_itself(solution, tables, module, options, scaling):
    scaled = dict(scalings(solution, OPTIONS))[scaling]
    alone = module.measure(scaled, options)["summary"].loc[0]
    name = module.__name__.split(".")[-1]
    assert tables[name].set_index("scaling").loc[scaling].to_dict() == alone.to_dict()


def test_neurons_have_separate_factors_and_the_same_each_time(solution):
    factors = neuron_factors(solution, OPTIONS)
    assert factors.shape == (8,)
    assert len(factors.unique()) == 8
    assert ((factors > 1 / 3) & (factors < 3)).all()
    torch.testing.assert_close(factors, neuron_factors(solution, OPTIONS), rtol=0, atol=0)
