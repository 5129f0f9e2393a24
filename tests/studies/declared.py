"""Studies and their figures, as config/studies declares them."""

from functools import cache
from pathlib import Path

import yaml

from flatlas.studies import load_figure

CONFIG = Path(__file__).resolve().parents[2] / "config"
STUDIES = sorted(path.stem for path in (CONFIG / "studies").glob("*.yaml"))


@cache
def declared(study):
    return yaml.safe_load((CONFIG / "studies" / f"{study}.yaml").read_text())


def module_of(study, figure):
    return declared(study)["figures"][figure].get("module", figure)


def figure_of(study, figure):
    """What has its `draw` and `claims`."""
    return load_figure(study, figure, module_of(study, figure))
