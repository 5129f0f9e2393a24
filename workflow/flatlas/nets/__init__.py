"""The architectures, stacked: every parameter has a leading axis of members.

A family is a module of this room, found by the name that the spec gives.
"""

from importlib import import_module

from flatlas.nets.layered import LayeredNet
from flatlas.plan.families import NetSpec


def build_net(spec: NetSpec, input_shape: tuple[int, int, int], outputs: int) -> LayeredNet:
    """The net of a spec for images of this shape (channels, height, width)."""
    net: LayeredNet = import_module(f"flatlas.nets.{spec.family}").build(spec, input_shape, outputs)
    return net
