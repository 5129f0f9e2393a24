"""No figure is left open; titles stand at the top of their axes, whatever is there."""

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed():
    # To look for what may be in a title's way takes a quarter of a drawing.
    with pyplot.rc_context({"axes.titley": 1.0}):
        yield
    pyplot.close("all")
