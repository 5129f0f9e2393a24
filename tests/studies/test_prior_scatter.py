"""Figures of the study `prior` with a dot for each net: which nets, where, in what colour."""

from math import exp, log, log10

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from pencil import note_of
from scipy import stats

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE
from flatlas.studies.prior import (
    boolean,
    estimates,
    fig3,
    links,
    overtraining,
    s4,
    s5,
    side_by_side,
)
from flatlas.studies.prior.nets import nets
from flatlas.studies.prior.scatter import SHADES

FIG2, S11 = boolean.FIGURES["fig2"], overtraining.FIGURES["s11"]
ATTACK = "data.attack_size"
FIG4 = ("prior", "sharpness", "corners")
# Run, seed, |A|, log10 P(f), test error, sharpness.
SGD = [
    ("a", 0, 0, -100.0, 0.1, 1.0),
    ("a", 1, 0, -110.0, 0.2, 10.0),
    ("b", 0, 50, -140.0, 0.4, 4.0),
    ("b", 1, 50, -150.0, 0.35, 100.0),
]
ADAM = [("c", 0, 0, -105.0, 0.15, 2.0), ("d", 0, 50, -145.0, 0.45, 1.0)]


def table(at="met+0", settled=True, **sweeps):
    """The summary of all measures at once: a figure takes what it needs."""
    rows = [
        {
            **{"sweep": sweep, "run": run, "seed": seed, "at": at, "epoch": 60, ATTACK: attack},
            **{"log10_p": log10_p, "train_error": 0.0, "test_error": error, "train_size": 200},
            **{"sharpness": sharp, "first_order": 0.9 * sharp, "rest": 0.1 * sharp},
            **{"gradient_norm": 0.5, "loss": 0.25, "spectral_norm": sharp**2},
            **{"log10_product": -sharp, "positive": 2, "converged": settled, "is_target": True},
        }
        for sweep, nets in sweeps.items()
        for run, seed, attack, log10_p, error, sharp in nets
    ]
    return pd.DataFrame(rows)


def material(never=(), **tables):
    """Nets of the tables, and those that never had zero error."""
    of = [rows[["sweep", "run", "seed", ATTACK]] for rows in tables.values()]
    outcomes = pd.concat(of).drop_duplicates().assign(met_epoch=60, converged=True)
    lost = pd.DataFrame(never, columns=["sweep", "run", "seed"]).assign(
        met_epoch=0, converged=False
    )
    outcomes = pd.concat([outcomes, lost]) if never else outcomes
    return Material(
        {"outcomes": outcomes, **{f"{name}_summary": rows for name, rows in tables.items()}}
    )


@pytest.fixture
def both():
    rows = table(sgd=SGD, adam=ADAM)
    return material(prior=rows, sharpness=rows, hessian=rows, corners=rows)


def places(ax):
    (dots,) = ax.collections
    return dots.get_offsets().data.tolist()


def fig4_of(rows, never=(), **changed):
    """Figure 4 of nets for which all measures have the same rows, except those changed."""
    return side_by_side.FIGURES["fig4"].draw(material(never, **dict.fromkeys(FIG4, rows) | changed))


def title(ax):
    """The lines of small print in a panel; none if there is nothing to say."""
    legend = ax.get_legend()
    return legend.get_title().get_text().splitlines() if legend else []


def test_a_row_has_all_that_was_measured_of_a_net(both):
    points = nets(both, "prior", "sharpness", "hessian")
    assert points["accuracy"].tolist() == pytest.approx([90, 80, 60, 65, 85, 55])
    assert points["flatness"].tolist() == pytest.approx([0, -1, -log10(4), -2, -log10(2), 0])
    assert points["norm_flatness"].tolist() == pytest.approx((2 * points["flatness"]).tolist())
    assert points["top_flatness"].tolist() == [0.5, 5, 2, 50, 1, 0.5]
    assert {"gradient_norm", "loss", "first_order", "rest", "train_error"} <= set(points)
    assert set(points["met_epoch"]) == {60}


def test_nets_are_as_they_first_had_zero_error():
    """The measures may have been taken at other moments too."""
    now, later = table(sgd=SGD), table(at="final", sgd=SGD).assign(log10_p=0.0, sharpness=5.0)
    rows = pd.concat([now, later])
    points = nets(material(prior=rows, sharpness=rows), "prior", "sharpness")
    assert points["log10_p"].tolist() == [-100, -110, -140, -150]
    assert set(points["at"]) == {"met+0"}


def test_fig4_has_a_column_for_each_optimizer(both):
    axes = side_by_side.FIGURES["fig4"].draw(both).figure.axes[:6]
    assert [ax.get_title() for ax in axes] == ["SGD", "Adam", "", "", "", ""]
    sgd = [[one[3], 100 * (1 - one[4])] for one in SGD]
    np.testing.assert_allclose(places(axes[0]), sgd)
    flat = [[-log10(one[5]), 100 * (1 - one[4])] for one in ADAM]
    np.testing.assert_allclose(places(axes[3]), flat)
    rest = [[-log10(0.1 * one[5]), 100 * (1 - one[4])] for one in ADAM]
    np.testing.assert_allclose(places(axes[5]), rest)


def test_a_net_without_a_positive_remainder_has_no_dot_in_the_last_row():
    rows = table(sgd=SGD)
    none = rows.assign(rest=[0.1, -0.1, 0.0, 0.1])
    axes = fig4_of(rows, corners=none).figure.axes
    assert [len(places(ax)) for ax in axes[:3]] == [4, 4, 2]


@pytest.mark.parametrize("realizations", [2, 6])
def test_a_panel_has_the_coefficients_of_each_realization_and_the_share_of_the_gradient(
    realizations,
):
    """Means over two realizations of three nets; six realizations of one net count together."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(2, 6))
    nets = [
        (f"r{i}", i % realizations, 0, -100 + x, 0.5 + 0.1 * y, 1.0)
        for i, (x, y) in enumerate(drawn.T)
    ]
    rows = table(sgd=nets)
    prior, flatness = fig4_of(rows).figure.axes[:2]
    found = [
        np.mean([of(*(drawn[:, i::2] if realizations == 2 else drawn)).statistic for i in (0, 1)])
        for of in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    ]
    signs = ["$r$", r"$\rho$", r"$\tau$"]
    assert title(prior) == [f"{s} = {-c:.2f}" for s, c in zip(signs, found, strict=True)]
    assert title(flatness)[-1] == "gradient: 90%"


def test_the_share_of_the_gradient_is_that_of_searches_that_converged():
    rows = table(sgd=SGD)
    lost = rows.assign(first_order=0.9 * rows["sharpness"] * [1, 1, 1, 1e4])
    lost["converged"] = [True, True, True, False]
    assert title(fig4_of(rows, sharpness=lost).figure.axes[1])[-1] == "gradient: 90%"
    lost["converged"] = [True, True, False, False]
    lines = title(fig4_of(rows, sharpness=lost).figure.axes[1])
    assert not any("gradient" in line for line in lines)


def test_dots_are_darker_the_larger_the_attack_set(both):
    first, *_, bar = side_by_side.FIGURES["fig4"].draw(both).figure.axes
    (dots,) = first.collections
    ends = [to_hex(SHADES(share)) for share in (0.0, 0.0, 1.0, 1.0)]
    assert [to_hex(colour) for colour in dots.get_edgecolors()] == ends
    assert [label.get_text() for label in bar.get_yticklabels()] == ["0", "50"]


def test_a_dot_is_hollow_where_its_own_search_did_not_converge():
    rows = table(sgd=SGD)
    unsettled = rows.assign(converged=[True, False, True, True])
    drawing = fig4_of(rows, prior=unsettled)
    (prior,), (flatness,) = (ax.collections for ax in drawing.figure.axes[:2])
    hollow = [to_hex(face) == "#ffffff" for face in prior.get_facecolors()]
    assert hollow == [False, True, False, False]
    assert "#ffffff" not in {to_hex(face) for face in flatness.get_facecolors()}
    assert "Hollow" in note_of(drawing)


def test_nets_that_never_had_zero_error_are_counted():
    rows = table(sgd=SGD)
    never = [("sgd", "b", 2), ("sgd", "e", 0)]
    note = note_of(fig4_of(rows, never))
    assert "Of 6 nets 2 never had zero error on S." in note
    assert "Hollow" not in note


def test_the_bound_is_that_of_equation_4():
    """P(f) = e^-40 on 200 images, at 95 %: (40 + ln 20) / 200."""
    found = fig3.bound(pd.Series([log10(exp(-40))]), 200)
    assert found.tolist() == pytest.approx([(40 + log(20)) / 200], rel=1e-12)


def test_the_upper_axis_reads_the_bound_of_the_dots_below(both):
    drawing = fig3.draw(both)
    ax = drawing.figure.axes[0]
    (upper,) = ax.child_axes
    drawing.figure.draw_without_rendering()
    for point in drawing.points.itertuples():
        bound = (-point.log10_p * log(10) + log(20)) / 200
        assert point.bound == pytest.approx(bound)
        above, below = (
            one.transData.transform((x, 0))[0]
            for one, x in ((upper, 100 * bound), (ax, point.log10_p))
        )
        assert above == pytest.approx(below)


def test_the_authors_axis_ranges_are_framed_where_our_dots_are_near():
    far = table(sgd=SGD)
    near = far.assign(log10_p=far["log10_p"] - 250)
    for rows, frames in ((far, []), (near, [(-440, 48)])):
        ax = fig3.draw(material(prior=rows, sharpness=rows, corners=rows)).figure.axes[0]
        assert [patch.get_xy() for patch in ax.patches] == frames


def test_s4_has_both_measures_against_sharpness_and_accuracy(both):
    axes = s4.draw(both).figure.axes
    flat = [-log10(one[5]) for one in SGD]
    accuracy = [100 * (1 - one[4]) for one in SGD]
    norm, top = [2 * one for one in flat], [one[5] / 2 for one in SGD]
    pairs = [(norm, flat), (top, flat), (norm, accuracy), (top, accuracy)]
    for ax, pair in zip(axes, pairs, strict=False):
        np.testing.assert_allclose(places(ax), np.transpose(pair))


def test_a_single_column_lies_on_its_side():
    rows = table(residual_adam=SGD)
    left, right = (
        side_by_side.FIGURES["s17"].draw(material(prior=rows, sharpness=rows)).figure.axes[:2]
    )
    assert left.get_position().y0 == pytest.approx(right.get_position().y0)


def test_overtraining_has_a_column_for_each_moment_in_order_of_time():
    first = table(sgd=SGD)
    later = pd.concat([table(at=f"met+{k}", sgd=SGD).assign(sharpness=k) for k in (1000, 20)])
    twice = later.assign(sharpness=2 * later["sharpness"])
    later_tables = {"later_prior": later, "later_sharpness": later, "later_corners": twice}
    axes = S11.draw(material(**dict.fromkeys(FIG4, first), **later_tables)).figure.axes
    names = ["at zero error", "20 epochs after it", "1000 epochs after it"]
    assert [ax.get_title() for ax in axes[:3]] == names
    for ax, flat in zip(axes[4:6], (-log10(20), -3), strict=True):
        assert [x for x, _ in places(ax)] == pytest.approx([flat] * len(SGD))
    for ax, flat in zip(axes[7:9], (-log10(40), -log10(2000)), strict=True):
        assert [x for x, _ in places(ax)] == pytest.approx([flat] * len(SGD))


def test_s5_shows_the_mean_ascent_and_both_sharpnesses():
    """For L_0 = 1, a rise of 0.5 is a sharpness of 100 · 0.5 / 2 = 25."""
    rows = table(sgd=SGD)
    stands = {"sweep": "sgd", "run": "a", "at": "met+0", ATTACK: 0}
    ascent = [
        stands | {"seed": seed, "epoch_of_ascent": n, "value": v}
        for seed, values in enumerate([(1.0, 1.5, 2.0), (1.0, 2.5, 3.0)])
        for n, v in enumerate(values)
    ]
    made = material(sharpness=rows, lbfgs=rows.assign(sharpness=2 * rows["sharpness"]))
    drawing = s5.draw(made.with_table("sharpness_ascent", pd.DataFrame(ascent)))
    (line,) = drawing.figure.axes[0].lines
    assert line.get_ydata().tolist() == [0, 50, 75]
    found = places(drawing.figure.axes[1])
    assert [y - x for x, y in found] == pytest.approx([log10(2)] * 4)


def test_links_are_compared_and_impossible_functions_are_counted():
    rows = table(sgd=SGD)
    hard = rows.assign(log10_p=[-60.0, -70.0, -np.inf, -90.0])
    drawing = links.draw(material(prior=rows, heaviside=hard))
    assert places(drawing.figure.axes[0]) == [[-100, -60], [-110, -70], [-150, -90]]
    assert "1 nets contradict themselves" in note_of(drawing)


def test_boolean_functions_are_blue_and_have_bars_of_their_counts():
    """A count of 100 in 10^4 has the standard error 10^-3, a tenth: 0.0434 of log10."""
    rows = table(boolean=SGD).assign(**{ATTACK: np.nan})
    counted = rows.assign(log10_p=-2.0, probability=0.01, standard_error=0.001)
    drawing = FIG2.draw(material(boolean_prior=counted, sharpness=rows, corners=rows))
    bars, dots = drawing.figure.axes[0].collections
    assert {to_hex(colour) for colour in dots.get_edgecolors()} == {BLUE.lower()}
    (start, end) = bars.get_segments()[0][:, 0]
    assert (end - start) / 2 == pytest.approx(0.1 / log(10), rel=1e-6)
    assert "another function" not in note_of(drawing)
    counted["is_target"] = [True, False, True, False]
    missed = FIG2.draw(material(boolean_prior=counted, sharpness=rows, corners=rows))
    assert "2 nets express another function" in note_of(missed)


def test_errors_of_estimates_are_theirs_less_the_exact_prior():
    rows = pd.DataFrame(
        {
            **{"sweep": "estimates", "run": "a", "seed": 0, "at": "met+0", ATTACK: 0},
            **{"size": [10, 20], "log10_p_ep": [-3.0, -8.5], "log10_p_tilting": [-4.0, -8.0]},
            **{"log10_p_variational": [-5.0, -9.0], "standard_error": [0.1, 0.2]},
            **{"converged_ep": [True, False], "converged_tilting": True},
            "converged_variational": True,
        }
    )
    made = material(estimates=rows.iloc[:1])
    drawing = estimates.draw(made.with_table("estimates_summary", rows))
    assert drawing.points["error_ep"].tolist() == [1, -0.5]
    assert drawing.points["error_variational"].tolist() == [-1, -1]
    assert drawing.points["ep_settled"].tolist() == [True, False]
    ep = drawing.figure.axes[0]
    assert ep.get_title(loc="right") == "25%"
    lengths = [np.ptp(bar.get_segments()[0][:, 1]) for bar in ep.collections]
    assert lengths == pytest.approx([0.4, 0.8])
