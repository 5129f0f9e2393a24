"""Figures on disk: the picture, the vector graphic, and every point in them."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from flatlas.plotting.dag import draw_dag
from flatlas.plotting.style import Drawing, panels, save, save_picture, shades

POINTS = pd.DataFrame({"n": [1, 2, 3], "σ_g": [0.5, 0.25, 0.125]})
STAGES = {
    "nodes": {"data sources": [f"digits-{0:012}"], "training": [f"a-{1:012}", f"b-{2:012}"]},
    "edges": [(f"digits-{0:012}", f"a-{1:012}"), (f"digits-{0:012}", f"b-{2:012}")],
    "studies": {f"a-{1:012}": "one", f"b-{2:012}": "two"},
}


@pytest.fixture
def files(tmp_path):
    """Paths of a figure's files, in a folder of that name that is not there yet."""

    def named(folder):
        kinds = ("pdf", "png", "csv")
        return SimpleNamespace(**{kind: str(tmp_path / folder / f"fig.{kind}") for kind in kinds})

    return named


def drawing():
    figure, axes = panels(1, 2)
    axes[0].plot(POINTS["n"], POINTS["σ_g"], label=r"$\sigma_g$")
    axes[0].legend()
    return Drawing(figure, POINTS)


def contents(output):
    return {kind: Path(path).read_bytes() for kind, path in vars(output).items()}


def test_a_figure_is_a_picture_a_vector_graphic_and_a_table_and_is_closed(files):
    before = pyplot.get_fignums()
    save(drawing(), files("one"))
    found = contents(files("one"))
    assert found["png"].startswith(b"\x89PNG")
    assert found["pdf"].startswith(b"%PDF")
    pd.testing.assert_frame_equal(pd.read_csv(files("one").csv), POINTS)
    assert pyplot.get_fignums() == before


def test_the_same_figure_has_the_same_bytes_and_another_has_not(files, monkeypatch):
    """Whatever the date; matplotlib takes it from this variable where it is set."""
    save(drawing(), files("one"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    save(drawing(), files("two"))
    assert contents(files("one")) == contents(files("two"))
    other = drawing()
    other.figure.axes[0].set_xlabel("n")
    save(other, files("three"))
    one, three = contents(files("one")), contents(files("three"))
    assert one["png"] != three["png"]
    assert one["pdf"] != three["pdf"]


def test_a_figure_is_drawn_once_for_each_file_with_the_panels_in_the_same_place(files, monkeypatch):
    places, draw = [], Figure.draw

    def noting(figure, renderer):
        places.append([ax.get_position().bounds for ax in figure.axes])
        draw(figure, renderer)

    monkeypatch.setattr(Figure, "draw", noting)
    save(drawing(), files("one"))
    png, pdf = places
    assert png == pdf


def test_no_screen_is_needed():
    assert matplotlib.get_backend().lower() == "agg"


def test_panels_are_lettered_in_reading_order():
    figure, axes = panels(2, 3)
    assert [ax.get_title(loc="left") for ax in axes] == list("ABCDEF")
    assert [ax.get_subplotspec().num1 for ax in axes] == [0, 1, 2, 3, 4, 5]
    pyplot.close(figure)


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_shades_darken_from_value_to_value(count):
    luminance = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b, _ in shades(count)]
    assert luminance == sorted(luminance, reverse=True)
    assert len(set(luminance)) == count
    assert max(luminance) < 0.85, "seen on white"


def test_the_picture_of_the_plan_has_a_dot_for_each_job_and_a_line_for_each_edge(files):
    figure = draw_dag(STAGES)
    (ax,) = figure.axes
    assert [line.get_marker() for line in ax.lines] == ["o"] * 3
    assert len({line.get_color() for line in ax.lines}) == 3, "two studies, and what they share"
    assert len(ax.collections[0].get_paths()) == 2
    shown = {text.get_text() for text in ax.texts}
    assert {"data sources\n(1)", "training\n(2)", "digits", "a", "b"} <= shown
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two", "shared"]
    save_picture(figure, files("dag").pdf, files("dag").png)
    assert Path(files("dag").png).read_bytes().startswith(b"\x89PNG")
