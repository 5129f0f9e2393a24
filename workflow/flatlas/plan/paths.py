"""The path of each file under results/. No other Python module defines any."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

RESULTS = Path("results")
# For jobs that a script repeats, outside Snakemake.
BY_HAND = RESULTS / "by-hand"

# The study of the user's trained networks. Its target and its folder have the same name.
MY_MODEL = "my_model"
# The name of its figure that is the page of these networks.
MY_PAGE = "page"
# The study that places these networks among those of the atlas, and its only figure.
ATLAS_MINE = "atlas_mine"
# The studies that the setting `my_model` makes.
OF_SETTING = (MY_MODEL, ATLAS_MINE)
PLACE = "place"
# The study of every measure on every network, and the name of its measure table among its figures.
ATLAS = "atlas"
NETWORKS = "networks"

# The folders of RESULTS besides those of presets.
FOLDERS = (
    BY_HAND.name,
    "data",
    "downloads",
    "kernels",
    "logs",
    "measures",
    "recordings",
    "resume",
    "runs",
    "site",
)

WILDCARD = re.compile(r"\{\w+\}")
LOG = str(RESULTS / "logs" / "{stage}" / "{name}.log")
FIGURE = str(RESULTS / "{preset}" / "{study}" / "{figure}.{extension}")
PAGE = str(RESULTS / "{preset}" / "{page}.{extension}")
COMPARISON = str(RESULTS / "comparison.{extension}")
RESUME = str(RESULTS / "resume" / "{run}")


def _outputs(folder: str, *files: str) -> dict[str, str]:
    """The outputs of a rule. Each has the name of its file, without the ending."""
    return {PurePath(file).stem: str(RESULTS / folder / file) for file in files}


# The outputs of each rule that draws samples from a data source.
SAMPLING = {
    "subset": _outputs("data/subsets/{samples}", "samples.parquet", "provenance.json"),
    "label_noise": _outputs("data/label_noise/{samples}", "samples.parquet", "provenance.json"),
    "attack_set": _outputs("data/attack_sets/{samples}", "samples.parquet", "provenance.json"),
    "functions": _outputs(
        "data/functions/{samples}", "samples.parquet", "functions.parquet", "provenance.json"
    ),
}
TRAINED = ("weights.safetensors", "history.parquet", "outcomes.csv", "times.csv", "provenance.json")
# The outputs of each rule with a wildcard, except measures: their tables determine them.
OUTPUTS = {
    "source": _outputs("data/sources/{source}", "images.safetensors", "provenance.json"),
    **SAMPLING,
    "train": _outputs("runs/{run}", *TRAINED),
    "record": _outputs("recordings/{run}", *TRAINED, "trajectory.npy"),
    "kernel": _outputs("kernels/{kernel}", "kernel.npy", "provenance.json"),
}


def figure_files(preset: str, study: str, figure: str, kinds: Mapping[str, str]) -> dict[str, str]:
    """The files of a figure or page of a study, by name, from the extension of each."""
    return {
        name: FIGURE.format(preset=preset, study=study, figure=figure, extension=kind)
        for name, kind in kinds.items()
    }


def measure_outputs(measure: str, tables: Iterable[str]) -> dict[str, str]:
    """The outputs of the rule of a measure."""
    files = [f"{table}.parquet" for table in tables]
    return _outputs(f"measures/{measure}/{{measurement}}", *files, "provenance.json")


def records(outputs: Mapping[str, str]) -> list[str]:
    """The provenance of each existing result of a rule with such outputs."""
    return sorted(map(str, Path().glob(WILDCARD.sub("*", outputs["provenance"]))))


def all_records() -> list[str]:
    """The provenance of each existing result that has an id, also of older measures of flatlas."""
    every = (*OUTPUTS.values(), measure_outputs("*", ()))
    return [record for outputs in every for record in records(outputs)]
