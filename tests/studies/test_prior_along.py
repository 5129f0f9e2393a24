"""Figures along a training (5, S6, S8, S9, S10 of the study `prior`), drawn from small tables."""

import numpy as np
import pytest
from declared import figure_of
from judging import with_columns
from pencil import drawn_dots, note_of, rows_where
from prior_courses import ALONG, watched
from shipped import shipped, shipped_jobs
from side_by_side import material_of

from flatlas.plan.measure_specs import MEASURES
from flatlas.plotting.style import BLUE, RED
from flatlas.studies.prior.along import PRIOR, SHARPNESS, TOP, in_full, moments

MET, AFTER, LAST = 10, 30, 60
MEASURED = {
    "prior": "gp_prior",
    "sharpness": "sharpness",
    "corners": "sharpness",
    "wide": "sharpness",
    "wide_corners": "sharpness",
    "hessian": "hessian",
}


def material(met=(MET, MET + 2), unsettled=0):
    """A realization for each epoch of zero error (0: it never came), at every other epoch."""
    made = material_of(training(seed, zero) for seed, zero in enumerate(met))
    name = "watched_sharpness_summary"
    converged = np.arange(len(made.tables[name])) >= unsettled
    return with_columns(made, name, converged=converged)


def training(seed, met):
    stands = {"sweep": "s", "run": "r", "seed": seed}
    stands |= {"rescaling.after": AFTER, "rescaling.factor": 4.0}
    return watched(stands, met, range(0, 21, 2), LAST, measured)


def measured(epochs, since, met):
    """Errors on S last until zero error, and for 3 epochs after the scaling."""
    found = {}
    for name, measure in MEASURED.items():
        numbers = MEASURES[measure].tables["summary"].keys() - {"converged"}
        found[name] = dict.fromkeys(numbers, 0.5 + epochs)
    off = (since < 0) | ((since > AFTER) & (since <= AFTER + 3))
    found["prior"] |= {"log10_p": -epochs, "train_error": np.where(off, 0.1, 0.0)}
    return found


def draw(figure, made):
    return figure_of("prior", figure).draw(made)


def test_a_moment_with_two_names_is_one_row_and_rows_are_in_order_of_time():
    rows = rows_where(moments(material(), PRIOR), seed=0)
    assert rows["epoch"].tolist() == list(range(0, MET + LAST + 1, 2))
    assert rows["since_zero_error"].tolist() == list(range(-MET, LAST + 1, 2))
    at_scaling = rows[rows["since_scaling"] == 0]
    assert at_scaling["epoch"].tolist() == [MET + AFTER]


def test_a_logarithm_is_taken_once():
    made = material()
    prior, sharpness = (rows_where(moments(made, curve), seed=0) for curve in (PRIOR, SHARPNESS))
    np.testing.assert_array_equal(prior["log10"], -prior["epoch"])
    np.testing.assert_allclose(10 ** sharpness["log10"], sharpness["epoch"] + 0.5)


def test_a_product_is_drawn_as_its_geometric_mean():
    """A product 10^60 of 20 eigenvalues has the mean 10^3; without eigenvalues there is no mean."""
    made = material(met=(MET,))
    name = "watched_hessian_summary"
    count = np.where(made.tables[name]["epoch"] > MET, 0, 20)
    points = moments(with_columns(made, name, log10_product=60.0, positive=count), TOP)
    assert set(points.loc[points["epoch"] <= MET, "log10"]) == {3.0}
    assert points.loc[points["epoch"] > MET, "log10"].isna().all()


def test_the_realization_of_the_median_epoch_of_zero_error_is_drawn_in_full():
    assert set(in_full(moments(material(met=(14, 8, 12, 0)), PRIOR))["seed"]) == {2}
    assert set(in_full(moments(material(), PRIOR))["seed"]) == {0}
    assert set(in_full(moments(material(met=(0, 0, MET)), PRIOR))["seed"]) == {2}
    assert set(in_full(moments(material(met=(0, 0)), PRIOR))["seed"]) == {0}


def test_no_line_goes_where_nothing_was_measured():
    """Nothing was measured between epoch 20 and zero error at 300; the other steps are of 2."""
    ax = draw("fig5", material(met=(300,))).figure.axes[0]
    lines = [line for line in ax.lines if len(line.get_xdata()) > 2 and line.get_linestyle() == "-"]
    assert len(lines) == 2
    for line in lines:
        x, y = line.get_xdata(), line.get_ydata()
        assert x[np.isnan(y)].tolist() == [299.5]
        assert max(np.diff(x[~np.isnan(y)])) == 280


def test_epochs_with_errors_on_s_are_red():
    """They are those before zero error, at 10, and one within 3 epochs after the scaling."""
    axes = draw("fig5", material()).figure.axes
    prior, _, sharpness, close, *_ = (set(drawn_dots(ax, colour=RED)) for ax in axes)
    assert prior == {(epoch, -epoch) for epoch in (0, 2, 4, 6, 8, MET + AFTER + 2)}
    assert {x for x, _ in sharpness} == {x for x, _ in prior}
    assert {x for x, _ in close} == {2}


def test_the_close_up_is_counted_from_the_scaling():
    axes = draw("fig5", material()).figure.axes
    close = drawn_dots(axes[1], colour=BLUE).keys()
    assert close == {(since, -(MET + AFTER + since)) for since in range(-20, 21, 2)}
    assert axes[1].get_ylim() == axes[0].get_ylim()


def test_zero_error_and_the_scaling_are_marked():
    top = draw("fig5", material()).figure.axes[0]
    assert {text.get_text().strip(): text.get_position()[0] for text in top.texts} == {
        "zero error": MET,
        r"$\alpha$ = 4": MET + AFTER,
    }


def test_a_training_without_zero_error_is_dashed_and_has_no_marks():
    axes = draw("fig5", material(met=(0,))).figure.axes
    assert {line.get_linestyle() for line in axes[0].lines if len(line.get_xdata()) > 2} == {
        "--",
        "None",
    }
    assert not axes[0].texts


def test_moments_that_did_not_converge_are_counted():
    assert "without converging: sharpness 3." in note_of(draw("fig5", material(unsettled=3)))
    assert "converging" not in note_of(draw("fig5", material()))


def test_the_csv_has_the_errors_of_every_moment_and_the_parts_of_the_sharpness():
    points = draw("s8", material()).points
    searches = {"sharpness", "sharpness by corners"}
    wide = {f"{name} in a larger box" for name in searches}
    assert set(points["quantity"]) == {"prior", *searches, *wide}
    assert not points[["train_error", "test_error", "met_epoch", "log10"]].isna().any().any()
    parts = points[points["quantity"] != "prior"]
    assert not parts[["first_order", "rest", "gradient_norm", "loss", "box"]].isna().any().any()


def test_s8_is_close_up_before_zero_error():
    close = drawn_dots(draw("s8", material()).figure.axes[1], colour=RED).keys()
    assert close == {(epoch - MET, -epoch) for epoch in range(0, MET, 2)}


def test_the_trend_of_s9_is_that_of_before_the_scaling():
    """3/epoch² until then; what comes later changes nothing."""
    made = material(met=(MET,))
    rows = made.tables["watched_corners_summary"]
    late = rows["epoch"] >= MET + AFTER
    sharpness = (3 / rows["epoch"].clip(lower=1) ** 2).mask(late, 7.0)
    falling = with_columns(made, "watched_corners_summary", sharpness=sharpness)
    trend = rows_where(draw("s9", falling).points, quantity="trend of the sharpness")
    assert trend["epoch"].tolist() == list(range(MET, MET + LAST + 1, 2))
    np.testing.assert_allclose(10 ** trend["log10"], 3 / trend["epoch"] ** 2, rtol=1e-10)


@pytest.mark.parametrize("preset", ["demo", "laptop", "paper"])
def test_a_figure_knows_when_and_by_how_much_its_nets_are_scaled(preset):
    for figure in ALONG:
        for point in shipped_jobs(preset)[f"prior_{figure}"].spec["points"]:
            run = shipped(preset).runs[point["run"]]
            known = {name: point.get(f"rescaling.{name}") for name in ("after", "factor")}
            assert known == {"after": run.rescaling.after, "factor": run.rescaling.factor}
