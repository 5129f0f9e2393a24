"""Which jobs are compared to estimate a time."""

from small_configuration import RUN

from flatlas.plan.training_specs import RunSpec
from flatlas.plan.work import slowness, training_work

RESNET = {"family": "resnet", "blocks": [2, 2, 2, 2]}


def stage(net):
    return training_work(RunSpec.model_validate(RUN | {"net": net})).stage


def test_a_large_net_is_compared_with_large_ones_only():
    assert stage(RESNET) != stage(RUN["net"])
    assert stage(RESNET) == stage(RESNET | {"block": "bottleneck"})
    assert stage(RESNET | {"channels": 4}) == stage(RUN["net"])


def test_of_an_own_net_no_size_is_known():
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
