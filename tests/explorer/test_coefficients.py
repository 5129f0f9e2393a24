"""The coefficients that the page computes are those of Python and SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flatlas.statistics.rank_correlation import tau

KENDALL = """([variables, strata, seeds]) => {
  const found = finished(kendall(variables, strata, seeds, DATA.conventions));
  return [found.value, found.low, found.high];
}"""
SPEARMAN = """([x, y, seeds]) => {
  const found = spearman(x, y, seeds, DATA.conventions);
  return [found.value, found.low, found.high];
}"""
CELL = "([measure, axis]) => cell(VARIABLES.get(measure), AXES.get(axis)).value"


def points(seed, ties):
    """Forty points of five realizations, eight of each in one stratum; z is much like x."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(40)
    table = pd.DataFrame({"x": x, "y": x + random.standard_normal(40)})
    table["z"] = x + 0.5 * random.standard_normal(40)
    table["w"] = random.standard_normal(40)
    if ties:
        table = (2 * table).round() / 2
    return table.assign(seed=np.arange(40) % 5)


def jackknife(statistic, table):
    """Student's interval around a statistic, from its values without each realization."""
    value = statistic(table)
    left = [statistic(table[table["seed"] != seed]) for seed in range(5)]
    half = stats.t.ppf(0.975, 4) * np.sqrt(4 / 5 * ((left - np.mean(left)) ** 2).sum())
    return [value, max(value - half, -1), min(value + half, 1)]


def of_pairs(given, within):
    """τ of x and y over pairs with the same `within`, by least squares; '': over all pairs."""

    def statistic(table):
        first, second = np.triu_indices(len(table), 1)
        if within:
            alike = table[within].to_numpy()[first] == table[within].to_numpy()[second]
            first, second = first[alike], second[alike]
        signs = {
            name: np.sign(table[name].to_numpy()[first] - table[name].to_numpy()[second])
            for name in ("x", "y", *given)
        }
        others = (
            np.stack([signs[name] for name in given], -1) if given else np.zeros((len(first), 1))
        )
        x, y = (
            signs[name] - others @ np.linalg.lstsq(others, signs[name], rcond=None)[0]
            for name in ("x", "y")
        )
        return (x @ y) / np.sqrt((x @ x) * (y @ y))

    return statistic


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("given", [(), ("z",), ("z", "w")])
@pytest.mark.parametrize("within", ["seed", ""])
def test_tau_and_its_interval_equal_an_independent_computation(functions, ties, given, within):
    table = points(1, ties)
    names = ["x", "y", *given]
    strata = table[within] if within else pd.Series(0, table.index)
    arguments = [[list(table[name]) for name in names], list(strata), list(table["seed"])]
    found = functions.evaluate(KENDALL, arguments)
    expected = jackknife(of_pairs(given, within), table)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    if within:
        ours = tau(table, "x", "y", strata.to_numpy(), table["seed"].to_numpy(), given)
        np.testing.assert_allclose(found, [ours.value, ours.low, ours.high], atol=1e-9)
    elif not given:
        assert found[0] == pytest.approx(stats.kendalltau(table["x"], table["y"]).statistic)


@pytest.mark.parametrize("ties", [False, True])
def test_spearmans_coefficient_equals_that_of_scipy_with_a_jackknife_interval(functions, ties):
    table = points(2, ties)
    found = functions.evaluate(SPEARMAN, [*(list(table[name]) for name in ("x", "y", "seed"))])
    expected = jackknife(lambda some: stats.spearmanr(some["x"], some["y"]).statistic, table)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_no_interval_from_two_seeds_or_three_points_and_no_value_from_a_constant(functions):
    table = points(3, ties=False)

    def found(some):
        variables = [list(some["x"]), list(some["y"])]
        seeds = list(some["seed"])
        return np.array(functions.evaluate(KENDALL, [variables, seeds, seeds]), float)

    assert np.isfinite(found(table)).all()
    few = [table[table["seed"] < 2], table.groupby("seed").head(3)]
    for some in few:
        value, low, high = found(some)
        assert np.isfinite(value)
        assert np.isnan([low, high]).all()
    assert np.isnan(found(table.assign(x=1.0))[0])


def test_tau_given_a_multiple_of_x_is_undefined(functions):
    table = points(4, ties=False)
    variables = [list(table["x"]), list(table["y"]), list(2 * table["x"])]
    seeds = list(table["seed"])
    assert functions.evaluate(KENDALL, [variables, seeds, seeds])[0] is None


def test_networks_of_one_seed_each_have_tau_b_without_an_interval(functions):
    """Networks are then compared across seeds."""
    table = points(5, ties=True).assign(seed=np.arange(40))
    variables = [list(table["x"]), list(table["y"])]
    found = functions.evaluate(KENDALL, [variables, [0] * 40, list(table["seed"])])
    expected = stats.kendalltau(table["x"], table["y"]).statistic
    assert found == [pytest.approx(expected), None, None]


@pytest.mark.parametrize("axis", ["rate", "noise", "beyond", "optimizer", "crossed:batch"])
def test_the_table_has_tau_over_networks_that_differ_only_in_the_axis(functions, nets, axis):
    sweep, _, key = axis.partition(":")
    own = {"rate": "optimizer.lr", "noise": "data.label_noise", "beyond": "at"}.get(axis, key)
    some = nets[[sweep in names.split(";") for names in nets["axes"]]]
    if axis == "beyond":
        strata = some["seed"]
    else:
        some = some[some["at"] == "met"]
        crossed = {"optimizer.lr", "batch", "width"} - {own} if key else set()
        strata = some.groupby(["seed", *sorted(crossed)]).ngroup()
    seeds = some["seed"].to_numpy()
    for measure in ("sharpness", "prior"):
        value = tau(some, measure, "gap", strata.to_numpy(), seeds).value
        assert functions.evaluate(CELL, [measure, axis]) == pytest.approx(value, abs=1e-9)
