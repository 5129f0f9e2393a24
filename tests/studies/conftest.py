"""Close every figure after its test, and keep titles at a fixed height."""

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed():
    # Looking for what overlaps a title takes a quarter of the time of a drawing.
    with pyplot.rc_context({"axes.titley": 1.0}):
        yield
    pyplot.close("all")
