"""Nets that are torch modules in a plan: what they can't do, and when they ask for a GPU."""

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan.code import measure_modules, stage_code, training_modules
from flatlas.plan.jobs import jobs_of

PLACE = "config/studies/flat.yaml: "


def study(**changes):
    """With such a net, and a measure of its last layer."""
    net = {"runs.base.net": {"family": "preactivation", "depth": 8}}
    return net | {"measures.hidden.layer": "fc"} | changes


def test_the_last_layer_can_be_measured(plan_of):
    assert len(plan_of(study=study()).measurements) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"measures.hidden.layer": "fc2"}, "measures.hidden.layer names 'fc2'. Allowed: fc."),
        (
            {"measures.hidden.layer": "features"},
            "measures.hidden.layer names 'features'. Allowed: fc.",
        ),
        (
            {"measures": {"hidden": {"measure": "convolution_duality", "layer": "conv1"}}},
            "measures.hidden.layer names 'conv1', but a net of family 'preactivation' has no "
            "convolution with a name: take this measure of other runs.",
        ),
        (
            {
                "measures": {
                    "hidden": {"measure": "scale_invariance", "layer": "fc", "factors": [1, 2]}
                }
            },
            "measures.hidden.layer is 'fc', which has no next layer. Allowed: none.",
        ),
        (
            {"measures": {"hidden": {"measure": "regret", "layer": "fc", "factors": [1, 2]}}},
            "measures.hidden.layer is 'fc', which has no next layer. Allowed: none.",
        ),
        (
            {
                "measures": {"hidden": {"measure": "gp_prior"}},
                "runs.base.data.positive": [0],
            },
            "measures.hidden.kernel is 'arc_cosine', that of dense nets",
        ),
        (
            {
                "runs.base.rescaling": {"layer": "fc", "factor": 2, "after": 1},
                "runs.base.stop.extra_epochs": 1,
            },
            "runs.base.rescaling.layer is 'fc', which has no next layer. Allowed: none.",
        ),
        (
            {"runs.base.frozen": ["features", "fc"]},
            "runs.base.frozen names every layer, which leaves none to train: leave one out.",
        ),
        (
            {"runs.base.data": {"source": "boolean", "functions": {"draws": 8}}},
            "runs.base.data.functions are counted of small nets, not of family 'preactivation'",
        ),
        (
            {"runs.base.net.depth": 21},
            "runs.base.net: a net of basic blocks has a depth of 6n + 2 or 6n + 4",
        ),
        (
            {"runs.base.net.block": "bottleneck"},
            "runs.base.net: a net of bottleneck blocks has a depth of 9n + 2",
        ),
    ],
)
def test_what_needs_layers_is_refused(plan_of, changes, said):
    with pytest.raises(FlatlasError) as raised:
        plan_of(study=study(**changes))
    assert str(raised.value).startswith(PLACE + said)


def test_a_large_one_asks_for_a_gpu_and_a_small_one_does_not(plan_of):
    """On 8 x 8 pixels, with sixteen channels and with 128."""
    small, large = plan_of(study=study()), plan_of(study=study(**{"runs.base.net.channels": 128}))
    for made, count in ((small, 0), (large, 1)):
        jobs = jobs_of(made)
        assert {jobs[name].gpus for name in (*made.runs, *made.measurements)} == {count}


def test_its_code_is_its_own(plan_of):
    """A change of the modules retrains no layered net."""
    with_modules, layered = plan_of(study=study()), plan_of()
    stages = (("train", training_modules, "runs"), ("measure", measure_modules, "measurements"))
    for stage, modules, kind in stages:
        first, second = (
            {stage_code(stage, *modules(spec)) for spec in getattr(plan, kind).values()}
            for plan in (with_modules, layered)
        )
        assert not first & second


def test_a_kernel_can_be_sampled(plan_of):
    changes = {
        "measures": {"hidden": {"measure": "gp_prior", "kernel": "monte_carlo"}},
        "runs.base.data.positive": [0],
    }
    (kernel,) = plan_of(study=study(**changes)).kernels.values()
    assert kernel.net.family == "preactivation"
