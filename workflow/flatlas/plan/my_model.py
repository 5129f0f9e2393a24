"""The studies of the user's trained networks: shipped files plus the networks of the setting."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import Boolean, SourceSpec, shape_and_classes
from flatlas.plan.documents import Document, Layer, read_yaml
from flatlas.plan.mistakes import refuse
from flatlas.plan.networks import NEEDED
from flatlas.plan.paths import ATLAS_MINE, MY_MODEL, PLACE
from flatlas.plan.settings import MyModel
from flatlas.plan.studies import Study
from flatlas.plan.trees import USER, with_value

# Where the study has the value of each key of the setting.
PLACES = {
    "images": ("runs", "model", "data", "source"),
    "positive": ("runs", "model", "data", "positive"),
    "net": ("runs", "model", "net"),
    "module": ("runs", "model", "net", "module"),
    "arguments": ("runs", "model", "net", "arguments"),
    "weights": ("sweeps", "model", "grid", "net.weights"),
    "expected": ("runs", "model", "expected"),
}
# The figure of the page, and the measures whose directions it draws.
SPECTRUM, DIRECTIONS = "spectrum", ("hessian", "duality")
# A run with `expected` must name a checkpoint, even before the sweep replaces its weights.
FIRST_WEIGHTS = ("runs", "model", "net", "weights")


def my_model(setting: MyModel, root: Path, changes: Layer) -> Document:
    """The study of the page. `changes` are the user's changes to its other settings."""
    layers = [_shipped(root, MY_MODEL), _named(setting)]
    if setting.net is not None:
        # The shipped file is for torch modules: in float32, with one known layer.
        hidden = setting.net.get("hidden")
        last = f"fc{len(hidden) + 1 if isinstance(hidden, list) else 1}"
        known = {"hessian": {"precision": None}, "duality": {"layer": last}}
        layers.append(Layer(f"config/{MY_MODEL}.yaml", {"measures": known}))
    return Document(*layers, changes)


def atlas_mine(setting: MyModel, root: Path, atlas: Document, changes: Layer) -> Document:
    """The study that places the networks in the atlas, with the measures of the atlas."""
    figures = atlas.tree.get("figures", {}).values()
    taken = [one["measures"] for one in figures if NEEDED in one.get("measures", ())]
    names = list(dict.fromkeys(name for measures in taken for name in measures))
    measures = {name: atlas.tree["measures"][name] for name in names}
    tree = {"measures": measures, "figures": {PLACE: {"measures": names}}}
    of_atlas = Layer(atlas.layers[0].file, tree)
    return Document(_shipped(root, ATLAS_MINE), of_atlas, _named(setting), changes)


def check_figures(name: str, study: Study, document: Document) -> None:
    """Refuse a page whose figure has no network, or no measure that it can draw."""
    figure, needed = (SPECTRUM, DIRECTIONS) if name == MY_MODEL else (PLACE, (NEEDED,))
    given = study.figures[figure]
    if not given.sweeps:
        raise FlatlasError(f"{document.origin(('figures', figure, 'sweeps'))} is []: leave it out.")
    if not {*needed} & {*given.measures}:
        raise FlatlasError(
            f"{document.origin(('figures', figure, 'measures'))} has nothing to draw: add "
            f"{' or '.join(needed)}."
        )


def check_images(setting: MyModel, sources: Mapping[str, SourceSpec]) -> None:
    """Refuse images without labels, and in `same_as` images of another shape."""
    if isinstance(sources.get(setting.images), Boolean):
        raise FlatlasError(
            f"{USER}: {MY_MODEL}.images is '{setting.images}', whose inputs have no labels: name "
            "another source."
        )
    if setting.same_as is None:
        return
    place = f"{USER}: {MY_MODEL}.same_as"
    if setting.same_as not in sources:
        refuse(place, setting.same_as, sources)
    if setting.images in sources:
        here, there = (
            shape_and_classes(sources[name])[0] for name in (setting.images, setting.same_as)
        )
        if here != there:
            raise FlatlasError(
                f"{place} is '{setting.same_as}', whose images have shape {there}, but those of "
                f"'{setting.images}' have {here}: leave it out."
            )


def _shipped(root: Path, study: str) -> Layer:
    return Layer(f"config/{study}.yaml", read_yaml(root / f"{study}.yaml"))


def _named(setting: MyModel) -> Layer:
    """The networks and data of the setting, in the form of a study."""
    tree: Mapping[str, Any] = {}
    for key, value in setting.model_dump(mode="json", exclude_none=True).items():
        if key in PLACES and not (key == "arguments" and setting.net):
            tree = with_value(tree, PLACES[key], value)
    tree = with_value(tree, FIRST_WEIGHTS, setting.weights[0])
    places = [*PLACES.items(), ("weights", FIRST_WEIGHTS)]
    written = {".".join(place): f"{MY_MODEL}.{key}" for key, place in places}
    return Layer(USER, tree, (MY_MODEL,), written)
