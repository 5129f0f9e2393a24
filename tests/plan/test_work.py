"""Which jobs are compared to estimate a time."""

from small_configuration import RUN

from flatlas.plan.training_specs import RunSpec
from flatlas.plan.work import training_work

RESNET = {"family": "resnet", "blocks": [2, 2, 2, 2]}


def stage(net):
    return training_work(RunSpec.model_validate(RUN | {"net": net})).stage


def test_a_large_net_is_compared_with_large_ones_only():
    assert stage(RESNET) != stage(RUN["net"])
    assert stage(RESNET) == stage(RESNET | {"block": "bottleneck"})
    assert stage(RESNET | {"channels": 4}) == stage(RUN["net"])


def test_of_an_own_net_no_size_is_known():
    assert stage({"family": "own", "module": "my_nets:Tiny"}) == stage(RUN["net"])
