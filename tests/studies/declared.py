"""Studies, their figures and their sweeps, as config/ declares them."""

from functools import cache
from itertools import product
from pathlib import Path

import yaml

from flatlas.studies import load_figure

CONFIG = Path(__file__).resolve().parents[2] / "config"
FILES = {
    path.stem: path
    for path in (
        *(CONFIG / "studies").glob("*.yaml"),
        CONFIG / "my_model.yaml",
        CONFIG / "atlas_mine.yaml",
    )
}
STUDIES = sorted(FILES)
# Made-up worlds in which a text is right, or is wrong.
RIGHT, WRONG = True, False


@cache
def declared(study):
    return yaml.safe_load(FILES[study].read_text())


def module_of(study, figure):
    return declared(study)["figures"][figure].get("module", figure)


def claiming(study):
    """The figures that judge claims."""
    return [name for name, one in declared(study)["figures"].items() if one.get("claims", True)]


def figure_of(study, figure):
    """What has its `draw` and `claims`."""
    return load_figure(study, figure, module_of(study, figure))


def points_of(study, sweep):
    """The swept values of each run that are numbers or names."""
    settings = declared(study)["sweeps"][sweep]
    grid = settings.get("grid", {})
    rows = product(*grid.values())
    points = settings.get("points") or [dict(zip(grid, row, strict=True)) for row in rows]
    return [{k: v for k, v in one.items() if not isinstance(v, list | dict)} for one in points]


def nets_of(study, figure, seeds):
    """The labels of each net of a figure, and the position of its run in the sweep."""
    for sweep in declared(study)["figures"][figure]["sweeps"]:
        for number, point in enumerate(points_of(study, sweep)):
            for seed in range(seeds):
                yield number, {"sweep": sweep, "run": f"{sweep}-{number}", "seed": seed, **point}


def ended(epoch):
    """The outcome of a training that met its rule at the end."""
    return {"reason": ["rule met"], "met_epoch": epoch, "epoch": epoch, "converged": True}
