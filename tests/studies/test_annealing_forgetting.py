"""Figure 4 of the study `annealing`: that what is drawn is what the tables say."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from flatlas.evidence.material import Material
from flatlas.studies.annealing import fig4

STRENGTHS, COUNTS, RANKS = (1.0, 10.0, 100.0), (20, 200, 500), 500


def tables(method, seeds=2):
    """ε1 falls and ε2 rises with λ N_c, by method; a seed adds a thousandth."""
    scale = {"ldc": 1, "ldc_variance": 2, "ewc": 4}[method]
    parts = {"errors": [], "displacements": [], "points": []}
    for seed, (strength, count) in product(range(seeds), [(0.0, 0), *product(STRENGTHS, COUNTS)]):
        net = {"seed": seed, "strength": strength, "directions": count, "at": "final", "epoch": 9}
        epsilon_1 = 0.5 / (1 + strength * count / 100) + 0.001 * seed
        epsilon_2 = 0.01 * scale * (1 + strength * count / 1e4)
        ends = {"epsilon_1": epsilon_1, "epsilon_2": epsilon_2}
        parts["points"].append(pd.DataFrame([{**net, **ends}]))
        parts["errors"].append(pd.DataFrame({**net, **ends, "time": [0.0, 0.5, 1.0]}))
        rank = np.arange(1, RANKS + 1)
        moved = {"rank": rank, "q": 1 / rank / (1 + strength), "flatness": 1.0 * rank}
        parts["displacements"].append(pd.DataFrame({**net, **moved}))
    return {f"{method}_{name}": pd.concat(some) for name, some in parts.items()}


@pytest.fixture
def material():
    outcomes = {"seed": [0, 1], "reason": "rule met", "met_epoch": 9, "epoch": 9, "converged": True}
    found = {"outcomes": pd.DataFrame(outcomes)}
    for method in ("ldc", "ldc_variance", "ewc"):
        found |= tables(method)
    return Material({name: rows.assign(sweep="task_1", run="a") for name, rows in found.items()})


def of(drawing, panel, **chosen):
    rows = drawing.points[drawing.points["panel"] == panel]
    for key, value in chosen.items():
        rows = rows[rows[key] == value]
    return rows.reset_index(drop=True)


def test_what_is_held_in_each_panel(material):
    drawing = fig4.draw(material)
    for panel, point in (("A", (0, 0)), ("B", (0, 0)), ("C", (10, 200)), ("D", (10, 200))):
        rows = of(drawing, panel)
        assert len(rows) and {tuple(row) for row in rows[["strength", "directions"]].values} == {
            point
        }


def test_what_is_nearest_is_held_where_the_papers_values_are_not_there(material):
    def without(rows):
        return rows[(rows["strength"] != 10) & (rows["directions"] != 200)]

    others = {
        name: rows if name == "outcomes" else without(rows)
        for name, rows in material.tables.items()
    }
    rows = of(fig4.draw(Material(others)), "C")
    assert rows["directions"].unique().tolist() == [500]
    assert rows["strength"].unique().tolist() in ([1.0], [100.0])


def test_the_threshold_and_the_displacements_of_the_first_net(material):
    rows = of(fig4.draw(material), "D")
    assert rows["rank"].tolist() == list(range(1, RANKS + 1))
    np.testing.assert_allclose(rows["threshold"], 0.008 * rows["rank"])
    np.testing.assert_allclose(rows["q"], 1 / rows["rank"] / 11)


def test_the_trade_off_is_of_200_directions_or_all_weights(material):
    drawing = fig4.draw(material)
    for method, count in (("ldc", 200), ("ldc_variance", 200), ("ewc", 500)):
        rows = of(drawing, "E", method=method)
        assert rows["strength"].tolist() == [0, *STRENGTHS]
        assert rows["directions"].tolist() == [0, count, count, count]
        expected = [0.5 / (1 + s * count / 100) + 0.0005 for s in STRENGTHS]
        np.testing.assert_allclose(rows["epsilon_1"][1:], expected)


def test_the_number_of_constraints_has_the_best_strength_of_each(material):
    drawing = fig4.draw(material)
    best = of(drawing, "F", method="ewc")
    assert best["directions"].tolist() == list(COUNTS)
    for count, total in zip(COUNTS, best["total"], strict=True):
        every = [
            0.5 / (1 + s * count / 100) + 0.0005 + 0.04 * (1 + s * count / 1e4) for s in STRENGTHS
        ]
        assert total == pytest.approx(min(every))
    both = of(drawing, "F", method="ldc")
    assert len(both) == 2 * len(COUNTS), "the best λ, and the paper's"
    assert both["strength"][len(COUNTS) :].tolist() == [10] * len(COUNTS)
