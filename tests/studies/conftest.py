"""Judge with fewer resamples; close every figure after its test, with titles at a fixed height."""

import pytest
from matplotlib import pyplot

from flatlas.statistics import estimate


@pytest.fixture(autouse=True, scope="module")
def few_resamples():
    # Made-up worlds lie far from the limits of criteria, so rough ends give the same verdicts.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimate, "RESAMPLES", 400)
        yield


@pytest.fixture(autouse=True)
def closed():
    # Looking for what overlaps a title takes a quarter of the time of a drawing.
    with pyplot.rc_context({"axes.titley": 1.0}):
        yield
    pyplot.close("all")
