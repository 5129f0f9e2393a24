"""Networks in stacks: every parameter has a leading axis of members.

Each family has a module with the name of its tag and a function `build`.
"""

from importlib import import_module

from flatlas.nets.layered import LayeredNet
from flatlas.plan.families import NetSpec


def build_net(spec: NetSpec, input_shape: tuple[int, int, int], outputs: int) -> LayeredNet:
    """Build the net of a spec, for images of this shape (channels, height, width)."""
    net: LayeredNet = import_module(f"flatlas.nets.{spec.family}").build(spec, input_shape, outputs)
    return net
