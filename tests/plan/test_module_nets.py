"""Nets that are torch modules in a plan: what they cannot do, and when they ask for a GPU."""

import pytest
import torch
from pydantic import TypeAdapter

from flatlas.nets.densenet import densenet
from flatlas.nets.preactivation import PreactivationNet
from flatlas.nets.resnet import resnet
from flatlas.plan.families import NetSpec
from flatlas.plan.jobs import jobs_of

# A module net, and a measure of its last layer.
MODULE = {
    "runs.base.net": {"family": "preactivation", "depth": 8},
    "measures.hidden.layer": "fc",
}
HIDDEN = "measures.hidden"
RESCALED = {"layer": "fc", "factor": 2, "after": 1}
FUNCTIONS = {"source": "boolean", "functions": {"draws": 8}}


NO_NEXT = ".layer is 'fc', which has no next layer. Allowed: none."
# Measures that need layers, and how the message goes on after their key.
MEASURES = [
    ({"measure": "duality", "layer": "fc2"}, ".layer names 'fc2'. Allowed: fc."),
    ({"measure": "duality", "layer": "features"}, ".layer names 'features'. Allowed: fc."),
    ({"measure": "convolution_duality", "layer": "conv1"}, ".layer names 'conv1', but a net of"),
    ({"measure": "scale_invariance", "layer": "fc", "factors": [1, 2]}, NO_NEXT),
    ({"measure": "regret", "layer": "fc", "factors": [1, 2]}, NO_NEXT),
]
# Settings of the run, and how the message goes on after its key.
SETTINGS = [
    ({"rescaling": RESCALED, "stop.extra_epochs": 1}, f".rescaling{NO_NEXT}"),
    ({"frozen": ["features", "fc"]}, ".frozen names every layer"),
    ({"data": FUNCTIONS}, ".data.functions are counted only for dense nets, not for family 'p"),
    ({"net.depth": 21}, ".net: a net of basic blocks has a depth of 6n + 2"),
    ({"net.block": "bottleneck"}, ".net: a net of bottleneck blocks has a depth of 9n + 2"),
]


@pytest.mark.parametrize(("measure", "said"), MEASURES)
def test_a_measure_that_needs_layers_is_refused(refusal, measure, said):
    assert refusal(MODULE | {HIDDEN: measure}).startswith(HIDDEN + said)


@pytest.mark.parametrize(("changes", "said"), SETTINGS)
def test_a_setting_that_needs_layers_is_refused(refusal, changes, said):
    changes = {f"runs.base.{key}": value for key, value in changes.items()}
    assert refusal(MODULE | changes).startswith(f"runs.base{said}")


DEEP = {
    "resnet": {"family": "resnet", "blocks": [1, 1, 1, 1], "channels": 2},
    "shallow": {"family": "resnet", "blocks": [1, 1, 1], "channels": 2},
    "densenet": {"family": "densenet", "blocks": [1, 1, 1, 1], "growth": 2, "channels": 4},
    "preactivation": {"family": "preactivation", "depth": 8, "channels": 2},
}


def torch_can_train_on(images, net):
    module = {"resnet": resnet, "densenet": densenet, "preactivation": PreactivationNet}
    spec = TypeAdapter(NetSpec).validate_python(net)
    built = module[spec.family](spec, 1, 10).train()
    try:
        built(torch.zeros(images, 1, 8, 8))
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize(
    ("batch", "learners", "last"), [(3, 1, 1), (98, 1, 2), (1, 1, 1), (33, 3, 33), (3, 7, 2)]
)
def test_a_last_minibatch_on_which_torch_cannot_train_is_refused(
    plan_of, refusal, name, batch, learners, last
):
    """Batch norm needs two numbers a channel; 100 images leave `last` ones for each learner."""
    study = MODULE | {"runs.base.net": DEEP[name], "sweeps.batch.grid.batch": [batch]}
    study |= {"runs.base.batch": batch}
    study |= {"runs.base.learners": {"kind": "ssgd", "count": learners}} if learners > 1 else {}
    if torch_can_train_on(last, DEEP[name]):
        assert plan_of(study=study).runs
    else:
        assert refusal(study).startswith("runs.base.batch is ")


def test_a_module_net_has_a_sampled_kernel_but_no_exact_one(plan_of, refusal):
    study = MODULE | {HIDDEN: {"measure": "gp_prior"}, "runs.base.data.positive": [0]}
    assert refusal(study).startswith(f"{HIDDEN}.kernel is 'arc_cosine'")
    (kernel,) = plan_of(study=study | {f"{HIDDEN}.kernel": "monte_carlo"}).kernels.values()
    assert kernel.net.family == "preactivation"


def test_a_large_module_net_asks_for_a_gpu_and_a_small_one_does_not(plan_of):
    """On 8 x 8 pixels, with sixteen channels and with 128."""
    for channels, count in ((16, 0), (128, 1)):
        made = plan_of(study=MODULE | {"runs.base.net.channels": channels})
        assert len(made.measurements) == 2
        jobs = jobs_of(made)
        assert {jobs[name].gpus for name in (*made.runs, *made.measurements)} == {count}
