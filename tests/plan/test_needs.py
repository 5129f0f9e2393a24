"""What jobs ask for: it follows from the spec, and grows from attempt to attempt."""

from pathlib import Path

import pytest
import yaml

from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.needs import kernel_needs, measuring_needs, training_needs
from flatlas.plan.requests import gpu_request, growing
from flatlas.plan.training_specs import RunSpec

ROOT = Path(__file__).resolve().parents[2]
STAGES = (
    {"channels": 6, "kernel": 5, "padding": 2, "pool": 2},
    {"channels": 6, "kernel": 3, "padding": 1, "skip": True},
    {"channels": 16, "kernel": 5, "stride": 2, "pool": 2},
)
WIDE = ({"channels": 256, "kernel": 3, "padding": 1}, {"channels": 256, "kernel": 3, "padding": 1})


def run(**chosen):
    usual = {
        "net": {"family": "dense", "hidden": (30, 30)},
        "optimizer": {"name": "sgd", "lr": 0.1},
        "batch": 25,
        "stop": {"epochs": 100},
        "samples": {
            "source": {"kind": "mnist"},
            "per_class": 400,
            "test_size": 2000,
            "seeds": (0, 1),
        },
        "input_shape": (1, 28, 28),
        "outputs": 10,
        "seeds": (0, 1),
    }
    return RunSpec.model_validate(usual | chosen)


def minutes(spec):
    return training_needs(spec)["runtime"]


def memory(spec):
    return training_needs(spec)["mem_mb"]


def of_the_measure(plan):
    return measuring_needs(next(iter(plan.measurements.values())))


def convolutional(stages, **more):
    return run(
        net={"family": "convolutional", "stages": stages, "hidden": (8,), "bias": False} | more
    )


def test_a_large_net_asks_for_a_gpu_and_a_small_one_does_not():
    small, large = (run(), convolutional(STAGES)), convolutional(WIDE)
    assert [training_needs(spec)["gpus"] for spec in (*small, large)] == [0, 0, 1]


def test_twice_the_work_asks_for_twice_the_minutes():
    few, more = (minutes(run(stop={"epochs": n})) - 20 for n in (10_000, 20_000))
    assert few == 10_000 * 6000 * 2 * (784 * 30 + 30 * 30 + 30 * 10) // (60 * 10**9) > 0
    assert more // few == 2


def test_an_attack_set_is_trained_on_too():
    subset = run().samples
    attacked = run(samples={"subset": subset, "size": 6000, "seeds": (0, 1)})
    assert minutes(attacked) - 20 == 2 * (minutes(run()) - 20)
    pixels = 2 * 6000 * 784 * 4 / 10**6
    assert memory(attacked) - memory(run()) == pytest.approx(2 * pixels, abs=5)


def test_a_measure_asks_for_the_time_of_its_passes(plan_of):
    """Of a small net next to none; of a large one it grows with probes, moments and seeds."""

    def asked(probes, net, **more):
        measures = {"hidden": {"measure": "hessian", "probes": probes, "top": 1}}
        plan = plan_of(study={"measures": measures, "runs.base.net": net} | more)
        return of_the_measure(plan)["runtime"] - 60

    large = {"family": "resnet", "blocks": [2, 2, 2, 2], "channels": 6400}
    few, many = (asked(probes, large) for probes in (80, 980))
    assert many == pytest.approx(10 * few, rel=0.01) and few > 60
    assert asked(80, large, realizations=4) == pytest.approx(2 * few, rel=0.02)
    assert asked(100, {"family": "dense", "hidden": [4, 4]}) == 0


def test_memory_grows_with_draws_learners_and_kept_moments():
    least = memory(run())
    pixels = 2 * 6000 * 784 * 4 / 10**6
    assert least == pytest.approx(2000 + 2 * pixels, abs=5)
    one_draw = run().samples.model_copy(update={"split": 0})
    assert memory(run(samples=one_draw)) == pytest.approx(2000 + pixels, abs=5)
    assert memory(run(learners={"kind": "ssgd", "count": 50})) > least
    assert memory(run(checkpoints=tuple(range(100)))) > least


def test_a_measure_asks_for_its_vectors(plan_of):
    """Lanczos keeps twenty for each of the eigenvalues, twice, in float64."""
    plan = {}
    for top in (5, 50):
        measures = {"hidden": {"measure": "hessian", "top": top}}
        resnet = {"family": "resnet", "blocks": [2, 2, 2, 2]}
        made = plan_of(study={"measures": measures, "runs.base.net": resnet})
        plan[top] = of_the_measure(made)["mem_mb"]
    assert plan[50] - plan[5] == pytest.approx(45 * 40 * 8 * 11.17, rel=0.01)


def test_a_kernel_asks_for_two_matrices_and_a_tenth_as_many_nets_as_images():
    """On 2 draws of 6,000 images; a single output."""
    net = {"family": "dense", "hidden": (30, 30)}
    samples = run().samples
    kernel = KernelSpec(samples=samples, net=net, input_shape=(1, 28, 28))
    products = 784 * 30 + 30 * 30 + 30
    assert kernel_needs(kernel) == {
        "gpus": 0,
        "mem_mb": 4000 + 2 * 8 * 36,
        "runtime": 60 + 2 * 600 * 6000 * products // (60 * 10**9),
    }


def test_what_is_asked_for_grows_with_the_attempt():
    assert [growing(10)(None, attempt) for attempt in (1, 2, 3)] == [10, 20, 30]


def test_a_gpu_is_asked_for_once():
    for count, gres in ((0, ""), (1, "gpu:1"), (4, "gpu:4")):
        (by_gpu,) = gpu_request(lambda _, count=count: count, by_gres=False).items()
        (by_gres,) = gpu_request(lambda _, count=count: count, by_gres=True).items()
        assert (by_gpu[0], by_gpu[1](None)) == ("gpu", count)
        assert (by_gres[0], by_gres[1](None)) == ("gres", gres)


def test_the_profiles_of_clusters_differ_in_how_they_ask_for_a_gpu_only():
    slurm, gres = (
        yaml.safe_load((ROOT / "profiles" / name / "profile.yaml").read_text())
        for name in ("slurm", "slurm-gres")
    )
    assert gres.pop("default-resources") == {"gpus_by_gres": 1}
    assert gres == slurm
    shared = yaml.safe_load((ROOT / "profiles/default/profile.yaml").read_text())
    assert {key: slurm[key] for key in shared.keys() & slurm.keys()} == {
        key: shared[key]
        for key in ("rerun-triggers", "keep-going", "rerun-incomplete", "scheduler")
    }
