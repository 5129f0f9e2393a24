"""Layers that a study names: one that its net does not have is told before anything is trained."""

from collections.abc import Iterable
from typing import get_args

from flatlas.errors import FlatlasError
from flatlas.plan.mistakes import refuse
from flatlas.plan.net_specs import LayerKind, layer_names
from flatlas.plan.training_specs import Training

KINDS: tuple[LayerKind, ...] = get_args(LayerKind)
# Those whose pre-activations are linear in their weights.
LINEAR: tuple[LayerKind, ...] = ("convolution", "dense")


def check_layer(layer: str, kind: LayerKind, run: Training, place: str) -> None:
    """It has to be there, and of this kind."""
    names = layer_names(run.net)
    if layer in names[kind]:
        return
    if not names[kind]:
        raise FlatlasError(
            f"{place} names {layer!r}, but a net of family '{run.net.family}' has no {kind} "
            "with a name: take this measure of other runs."
        )
    convolved = kind == "dense" and layer in names["convolution"]
    why = ", a convolution, but the exact duality needs a dense layer" if convolved else ""
    refuse(place, layer, names[kind], why)


def check_layers(
    named: Iterable[str], run: Training, place: str, kinds: Iterable[LayerKind] = KINDS
) -> None:
    """Each has to be there, and of one of these kinds."""
    names = layer_names(run.net)
    known = [name for kind in kinds for name in names[kind]]
    for layer in named:
        if layer not in known:
            refuse(place, layer, known)


def check_frozen(frozen: tuple[str, ...], run: Training, place: str) -> None:
    """Some layer has to be left."""
    check_layers(frozen, run, place)
    if all(set(names) <= set(frozen) for names in layer_names(run.net).values()):
        raise FlatlasError(f"{place} names every layer, which leaves none to train: leave one out.")
