"""Expectation propagation is estimated by the cube of the images it takes."""

import pytest
from small_configuration import RUN

from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.work import measure_work

BINARY = RUN | {
    "net": {"family": "dense", "hidden": [4], "bias": True, "init": {"scheme": "he_normal"}},
    "outputs": 1,
}


def units(train_size, test_size, **options):
    samples = {"source": {"kind": "mnist"}, "positive": [1], "train_size": train_size}
    samples |= {"test_size": test_size, "seeds": [0, 1]}
    run = BINARY | {"samples": samples}
    measured = {"options": {"at": ["final"], **options}, "run": run}
    return measure_work(MeasureSpec.model_validate(measured)).units


@pytest.mark.parametrize(
    ("options", "factor"),
    [({"measure": "gp_prior", "link": "probit"}, 8), ({"measure": "hessian", "top": 3}, 2)],
)
def test_twice_the_images_are_so_much_more_work(options, factor):
    assert units(1000, 2000, **options) == factor * units(500, 1000, **options)


def test_images_that_a_prior_leaves_out_are_no_work():
    prior = {"measure": "gp_prior", "link": "probit"}
    assert units(500, 9000, test_images=1000, **prior) == units(500, 1000, **prior)
