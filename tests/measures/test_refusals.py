"""A measure that does not fit a solution says what is missing and what is allowed."""

from dataclasses import replace

import numpy as np
import pytest
from every_measure import options_of, solution_for
from solutions import make_solution

from flatlas.errors import FlatlasError
from flatlas.measures import measure

TOO_LARGE = r"minibatches of 41 images .* may be 40 at most"
SAMPLED = {"kernel": "monte_carlo"}
HE = make_solution("he", 1)


def without_label_0():
    solution = make_solution("two_hidden")
    solution.labels[solution.labels == 0] = 1
    return solution


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("active_temperature", {"batch": 41}, TOO_LARGE),
        ("minibatch_losses", {"batch": 41}, TOO_LARGE),
        ("minibatch_noise", {"batch": 41}, TOO_LARGE),
        ("convolution_duality", {"layer": "fc1"}, r"'fc1' is no convolution.*: conv1, conv2"),
        ("duality", {"layer": "fc9"}, "layer 'fc9' is no layer of this net.* fc1, fc2, fc3"),
        ("duality", {"layer": "fc3", "sharp": 19}, "sharp is 19, but the layer has 18 directions"),
        ("scale_invariance", {"layer": "fc3"}, r"layer 'fc3' is the last.*Allowed: fc1, fc2"),
        ("test_images", {"sizes": [10, 26]}, "asks for 26 test images, but only 25 are drawn"),
        ("trajectory_pca", {"components": [1, 55]}, "names rank 55, but the trajectory has 54"),
        ("orthant", {"sizes": [10, 42]}, "42 different images, but S and E have 41"),
    ],
)
def test_options_that_do_not_fit_are_refused(name, options, said):
    with pytest.raises(FlatlasError, match=said):
        measure(name, solution_for(name), options_of(name) | options)


@pytest.mark.parametrize(
    ("name", "solution", "options", "said"),
    [
        ("boolean_prior", HE, {}, r"data\.functions"),
        ("forgetting", make_solution("two_hidden", layer="fc2"), {}, "no images of a second task"),
        ("test_images", without_label_0(), {"sizes": [1, 25]}, "none of the first 1 test images"),
        ("duality", make_solution("convolutional"), {"layer": "conv1"}, "'conv1' is a convolution"),
        ("gp_prior", make_solution("biases", 3), {}, r"two values.*3 outputs"),
        ("gp_prior", make_solution("biases", 1), {}, "monte_carlo"),
        ("gp_prior", HE, SAMPLED, r"S and E are 65 images.*there is none"),
        ("gp_prior", replace(HE, kernel=np.eye(54)), SAMPLED, "there is one of 54 images"),
    ],
)
def test_a_solution_without_what_a_measure_needs_is_refused(name, solution, options, said):
    with pytest.raises(FlatlasError, match=said):
        measure(name, solution, options_of(name) | options)
