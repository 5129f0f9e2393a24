"""Checks of the layers that a study names, before anything is trained."""

from collections.abc import Iterable
from typing import get_args

from flatlas.errors import FlatlasError
from flatlas.plan.family import LayerKind
from flatlas.plan.mistakes import refuse
from flatlas.plan.training_specs import Training

KINDS: tuple[LayerKind, ...] = get_args(LayerKind)
# The kinds of layers whose pre-activations are linear in the weights.
LINEAR: tuple[LayerKind, ...] = ("convolution", "dense")


def check_layer(layer: str, kind: LayerKind, run: Training, place: str) -> None:
    """Refuse a layer that the net does not have, or that is of another kind."""
    names = run.net.names(kind)
    if layer in names:
        return
    if not names:
        raise FlatlasError(
            f"{place} names {layer!r}, but a net of family '{run.net.family}' has no {kind} "
            "with a name: take this measure of other runs."
        )
    convolved = kind == "dense" and layer in run.net.names("convolution")
    why = ", a convolution, but this needs a dense layer" if convolved else ""
    refuse(place, layer, names, why)


def check_layers(
    named: Iterable[str], run: Training, place: str, kinds: Iterable[LayerKind] = KINDS
) -> None:
    """Refuse layers that the net does not have, or that are of other kinds."""
    known = run.net.names(*kinds)
    for layer in named:
        if layer not in known:
            refuse(place, layer, known)


def check_frozen(frozen: tuple[str, ...], run: Training, place: str) -> None:
    """Refuse frozen layers that the net does not have, or that leave none to train."""
    check_layers(frozen, run, place)
    if {layer.name for layer in run.net.layers} <= set(frozen):
        raise FlatlasError(f"{place} names every layer, which leaves none to train: leave one out.")
