"""How much work a job is, and with which jobs an estimate compares it."""

import pytest
from small_configuration import RUN

from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.work import measure_work, slowness, training_work

RESNET = {"family": "resnet", "blocks": [2, 2, 2, 2]}


def stage(net):
    return training_work(RunSpec.model_validate(RUN | {"net": net})).stage


def test_a_large_net_is_compared_with_large_ones_only():
    assert stage(RESNET) != stage(RUN["net"])
    assert stage(RESNET) == stage(RESNET | {"block": "bottleneck"})
    assert stage(RESNET | {"channels": 4}) == stage(RUN["net"])


def test_an_own_net_is_compared_with_small_ones():
    assert stage({"family": "own", "module": "my_nets:Tiny"}) == stage(RUN["net"])


def test_small_steps_and_large_minibatches_are_slow():
    one, *slower = (
        slowness(RunSpec.model_validate(RUN | changed))
        for changed in (
            {"optimizer": {"name": "sgd", "lr": 0.5}, "batch": 10},
            {"optimizer": {"name": "sgd", "lr": 0.05}, "batch": 10},
            {"optimizer": {"name": "sgd", "lr": 0.5}, "batch": 20},
            {"optimizer": {"name": "sgd", "lr": 0.5}, "batch": "full"},
        )
    )
    assert all(other > one for other in slower)


def test_the_smallest_rate_has_a_finite_slowness():
    """Its inverse is infinite."""
    tiny = RUN | {"optimizer": {"name": "sgd", "lr": 5e-324}}
    assert slowness(RunSpec.model_validate(tiny)) > slowness(RunSpec.model_validate(RUN))


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
def test_twice_the_images_are_twice_or_eight_times_the_work(options, factor):
    """Expectation propagation takes the cube of the images."""
    assert units(1000, 2000, **options) == factor * units(500, 1000, **options)


def test_images_that_a_prior_leaves_out_add_no_work():
    prior = {"measure": "gp_prior", "link": "probit"}
    assert units(500, 9000, test_images=1000, **prior) == units(500, 1000, **prior)
