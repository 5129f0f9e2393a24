"""Networks without a value of the chosen variable are drawn, apart from the others."""

import made_up_networks
import pytest
from made_up_explorer import explorer
from node import Functions

from flatlas.explorer.page import explorer_page

BATCHES = (4, 8, 16, 32, 64, 128, 250, 500)
PANELS = """(name) => {
  state.panels = name;
  return panelsOf(DATA.run.map((_, row) => row)).map(({ title, rows }) => [title, rows]);
}"""
COLOURS = """(name) => {
  state.colour = name;
  const rows = DATA.run.map((_, row) => row);
  const { entries, ends, named, of } = colours(rows);
  return { entries: [...(entries ?? []), ...named], ends, each: rows.map(of) };
}"""


@pytest.fixture(scope="module")
def nets():
    """Only SAM has a radius; batches of the axis `size` are full; `met+1000` is on no axis."""
    nets = made_up_networks.networks(crossed=2)
    is_sam = nets["optimizer.name"].isin(["sam", "asam"])
    adaptive = (nets["optimizer.name"] == "asam").map({True: "yes", False: "no"}).where(is_sam)
    is_full = nets["axes"] == "size"
    nets.insert(6, "optimizer.radius", is_sam.map({True: 0.12345}))
    nets.insert(7, "optimizer.adaptive", adaptive)
    nets.insert(8, "full_batch", is_full.map({True: True}))
    nets["axes"] = nets["axes"].mask(nets["at"] == "met+1000", "width")
    return nets.assign(batch=nets["batch"].mask(is_full, nets["data.train_size"]))


@pytest.fixture(scope="module")
def functions(nets):
    return Functions(explorer_page(explorer(nets)))


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("optimizer.radius", ["optimizer: radius: 0.12345", "optimizer: radius: none"]),
        ("optimizer.adaptive", ["no", "yes", "optimizer: adaptive: none"]),
        ("batch", [f"batch size: {size}" for size in (*BATCHES, "full")]),
    ],
)
def test_each_network_is_in_one_panel(functions, nets, name, titles):
    panels = functions.evaluate(PANELS, name)
    assert [title for title, _ in panels] == titles
    assert sorted(row for _, rows in panels for row in rows) == [*range(len(nets))]
    lacking = nets["full_batch"].notna() if name == "batch" else nets[name].isna()
    assert panels[-1][1] == [*nets.index[lacking]]


@pytest.mark.parametrize(
    ("name", "last"),
    [("optimizer.radius", "none"), ("optimizer.adaptive", "none"), ("batch", "full")],
)
def test_each_network_has_a_colour_of_the_legend(functions, nets, name, last):
    found = functions.evaluate(COLOURS, name)
    legend = dict(found["entries"])
    assert [*legend][-1] == last
    assert {*found["each"]} == {*legend.values()}
    lacking = nets["full_batch"].notna() if name == "batch" else nets[name].isna()
    assert [colour == legend[last] for colour in found["each"]] == [*lacking]


def test_quarters_of_a_measure_and_those_without_it_are_all_networks(functions, nets):
    panels = functions.evaluate(PANELS, "regret")
    assert [len(rows) for _, rows in panels][4:] == [nets["regret"].isna().sum()]
    assert sum(len(rows) for _, rows in panels) == len(nets)


def test_panels_of_axes_show_networks_that_are_on_none(functions, nets):
    panels = dict(functions.evaluate(PANELS, "axis"))
    assert panels["axis: none"] == [*nets.index[nets["at"] == "met+1000"]]
    assert {row for rows in panels.values() for row in rows} == {*range(len(nets))}


def test_moments_are_numbers(functions):
    titles = [title.rpartition(": ")[2] for title, _ in functions.evaluate(PANELS, "at")]
    assert titles == [*map(str, made_up_networks.BEYOND)]


def test_a_pinned_full_batch_says_so(functions, nets):
    row = int(nets.index[nets["full_batch"].notna()][0])
    said = functions.evaluate("(row) => valueText(VARIABLES.get('batch'), row)", row)
    assert said == f"full, {nets['batch'][row]}"
