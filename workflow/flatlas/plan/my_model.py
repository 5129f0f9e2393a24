"""The studies of the user's trained networks: their own files with what the setting names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import shape_and_classes
from flatlas.plan.documents import Document, Layer, read_yaml
from flatlas.plan.mistakes import refuse
from flatlas.plan.networks import NEEDED
from flatlas.plan.paths import ATLAS_MINE, MY_MODEL, PLACE
from flatlas.plan.settings import MyModel, Settings
from flatlas.plan.studies import Study
from flatlas.plan.trees import USER, dotted, leaves, with_value

# Where a study has what each key of the setting says.
PLACES = {
    "images": ("runs", "model", "data", "source"),
    "positive": ("runs", "model", "data", "positive"),
    "net": ("runs", "model", "net"),
    "module": ("runs", "model", "net", "module"),
    "arguments": ("runs", "model", "net", "arguments"),
    "weights": ("sweeps", "model", "grid", "net.weights"),
    "expected": ("runs", "model", "expected"),
}
# The figure of the page, and the measures of which it draws each direction.
SPECTRUM, DIRECTIONS = "spectrum", ("hessian", "duality")
# A run that expects something is one of a checkpoint, also before the sweep replaces it.
FIRST_WEIGHTS = ("runs", "model", "net", "weights")


def my_model(said: MyModel, root: Path, changes: Layer) -> Document:
    """The study of the page; `changes` are those of the user to the rest of it."""
    layers = [_shipped(root, MY_MODEL), _named(said)]
    if said.net is not None:
        # The shipped file is for modules: in float32, and with one known layer.
        hidden = said.net.get("hidden")
        last = f"fc{len(hidden) + 1 if isinstance(hidden, list) else 1}"
        known = {"hessian": {"precision": None}, "duality": {"layer": last}}
        layers.append(Layer(f"config/{MY_MODEL}.yaml", {"measures": known}))
    return Document(*layers, changes)


def atlas_mine(said: MyModel, root: Path, atlas: Document, changes: Layer) -> Document:
    """The study that places the networks in the atlas: it takes what that takes of its own."""
    figures = atlas.tree.get("figures", {}).values()
    taken = [one["measures"] for one in figures if NEEDED in one.get("measures", ())]
    names = list(dict.fromkeys(name for measures in taken for name in measures))
    measures = {name: atlas.tree["measures"][name] for name in names}
    tree = {"measures": measures, "figures": {PLACE: {"measures": names}}}
    of_atlas = Layer(atlas.layers[0].file, tree)
    return Document(_shipped(root, ATLAS_MINE), of_atlas, _named(said), changes)


def check_directions(study: Study, document: Document) -> None:
    """Refuse the figure of the page without a measure that it can draw."""
    if not {*DIRECTIONS} & {*study.figures[SPECTRUM].measures}:
        raise FlatlasError(
            f"{document.origin(('figures', SPECTRUM, 'measures'))} has nothing to draw: add "
            f"{' or '.join(DIRECTIONS)}."
        )


def check_same_as(settings: Settings) -> None:
    """Refuse a source to compare with that does not exist, or has images of another shape."""
    said = settings.my_model
    if said is None or said.same_as is None:
        return
    place = f"{USER}: {MY_MODEL}.same_as"
    if said.same_as not in settings.sources:
        refuse(place, said.same_as, settings.sources)
    if said.images in settings.sources:
        here, there = (
            shape_and_classes(settings.sources[name])[0] for name in (said.images, said.same_as)
        )
        if here != there:
            raise FlatlasError(
                f"{place} is '{said.same_as}', whose images have shape {there}, but those of "
                f"'{said.images}' have {here}: leave it out."
            )


def _shipped(root: Path, study: str) -> Layer:
    return Layer(f"config/{study}.yaml", read_yaml(root / f"{study}.yaml"))


def _named(said: MyModel) -> Layer:
    """What the setting names, where a study has it."""
    tree: Mapping[str, Any] = {}
    for key, value in said.model_dump(mode="json", exclude_none=True).items():
        if key in PLACES and not (key == "arguments" and said.net):
            tree = with_value(tree, PLACES[key], value)
    tree = with_value(tree, FIRST_WEIGHTS, said.weights[0])
    places = [*PLACES.items(), ("weights", FIRST_WEIGHTS)]
    written = {".".join(place): f"{MY_MODEL}.{key}" for key, place in places}
    of_net = map(dotted, leaves(said.net or {}))
    written |= {f"runs.model.net.{key}": f"{MY_MODEL}.net.{key}" for key in of_net}
    return Layer(USER, tree, (MY_MODEL,), written)
