"""What the other realizations of a network are: those with all its settings."""

import numpy as np
import pandas as pd

from flatlas.studies.atlas.nets import Along
from flatlas.studies.atlas.ranking import REPEATED, with_repeated


def test_networks_that_differ_in_a_setting_that_is_not_asked_about_are_no_repeats():
    """As with SAM and ASAM of one radius, in a sweep of both along the radius."""
    gaps = pd.DataFrame({"gap": [0.1, 0.3, 0.2, 0.6]})
    some = Along(
        gaps, np.array([0, 1, 0, 1]), contexts=np.array([0, 0, 1, 1]), values=np.zeros(4, int)
    )
    np.testing.assert_allclose(with_repeated(some).nets[REPEATED], [0.3, 0.1, 0.6, 0.2])
