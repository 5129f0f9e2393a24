"""What jobs ask for follows from the spec, and grows from attempt to attempt."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from safetensors.numpy import save_file
from small_configuration import RUN

from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.needs import kernel_needs, measuring_needs, training_needs
from flatlas.plan.requests import gpu_request, growing
from flatlas.plan.training_specs import RunSpec

PROFILES = Path(__file__).resolve().parents[2] / "profiles"
# The megabytes of the images of both draws, which a process holds twice.
PIXELS = 2 * 2 * 6000 * 784 * 4 / 10**6
RESNET = {"family": "resnet", "blocks": [2, 2, 2, 2]}


def needs(**chosen):
    return training_needs(RunSpec.model_validate(RUN | chosen))


def hessian_needs(plan_of, net, study=None, **options):
    measures = {"hidden": {"measure": "hessian", **options}}
    plan = plan_of(study={"measures": measures, "runs.base.net": net} | (study or {}))
    return measuring_needs(next(iter(plan.measurements.values())))


def convolutional(*stages):
    stages = [{"kernel": 3, "padding": 1, **stage} for stage in stages]
    return {"family": "convolutional", "stages": stages, "hidden": (8,), "bias": False}


def test_a_large_net_asks_for_a_gpu_and_a_small_one_does_not():
    small = convolutional({"channels": 6, "pool": 2}, {"channels": 16, "stride": 2, "pool": 2})
    large = convolutional({"channels": 256}, {"channels": 256})
    nets = (RUN["net"], small, large)
    assert [needs(net=net)["gpus"] for net in nets] == [0, 0, 1]


def test_twice_the_work_asks_for_twice_the_minutes():
    """24,720 products for each of 6,000 images and two seeds, at 10^9 a second."""
    minutes = [needs(stop={"epochs": epochs})["runtime"] - 20 for epochs in (10_000, 20_000)]
    assert minutes == [49, 98]


def test_a_training_asks_for_memory_for_images_weights_and_learners():
    least = needs()["mem_mb"]
    assert least == pytest.approx(2000 + PIXELS, abs=5)
    one_draw = RUN["samples"] | {"split": 0}
    assert needs(samples=one_draw)["mem_mb"] == pytest.approx(2000 + PIXELS / 2, abs=5)
    assert needs(learners={"kind": "ssgd", "count": 50})["mem_mb"] > least
    assert needs(checkpoints=tuple(range(100)))["mem_mb"] > least
    weights = {"net": {"family": "dense", "hidden": (10_000,)}}
    averaged = needs(**weights, average={"from_epoch": 1})["mem_mb"] - needs(**weights)["mem_mb"]
    # The average and its saved copy are in float64: eight bytes more for each weight of both seeds.
    assert averaged == pytest.approx(2 * 8 * (784 + 10) / 100, rel=0.1)


def test_an_attack_set_adds_time_and_memory():
    attacked = needs(samples={"subset": RUN["samples"], "size": 6000, "seeds": (0, 1)})
    assert attacked["runtime"] - 20 == 2 * (needs()["runtime"] - 20)
    assert attacked["mem_mb"] - needs()["mem_mb"] == pytest.approx(PIXELS, abs=5)


def test_a_measure_asks_for_the_time_of_its_passes(plan_of):
    """Almost none for a small net; for a large one it grows with probes, moments and seeds."""

    def minutes(probes, net, study=None):
        return hessian_needs(plan_of, net, study, probes=probes, top=1)["runtime"] - 60

    large = RESNET | {"channels": 3200}
    few, many = (minutes(probes, large) for probes in (80, 980))
    assert many == pytest.approx(10 * few, rel=0.01) and few > 60
    assert minutes(80, large, {"realizations": 4}) == pytest.approx(2 * few, rel=0.02)
    assert minutes(100, {"family": "dense", "hidden": [4, 4]}) == 0


def test_a_measure_asks_for_memory_for_its_vectors(plan_of):
    """Lanczos keeps twenty for each of the eigenvalues, twice, in float64."""
    few, many = (hessian_needs(plan_of, RESNET, top=top)["mem_mb"] for top in (5, 50))
    assert many - few == pytest.approx(45 * 40 * 8 * 11.17, rel=0.01)


def test_an_own_net_asks_for_the_memory_of_its_checkpoint(tmp_path):
    """The rest is that of a large net, because the plan does not load it."""
    file = tmp_path / "net.safetensors"
    own = {"family": "own", "module": "nets:Net", "weights": str(file)}
    absent = needs(net=own)
    file.write_bytes(b"damaged")
    assert needs(net=own) == absent, "the job says so"
    small, large = (own_needs(own, file, millions) for millions in (1, 11))
    assert absent["mem_mb"] > large["mem_mb"]
    # Ten copies for each of two seeds, in float32, of ten million weights.
    assert large["mem_mb"] - small["mem_mb"] == pytest.approx(10 * 2 * 4 * 10, rel=0.1)
    assert {**small, "mem_mb": 0} == {**absent, "mem_mb": 0}


def own_needs(own, file, millions):
    """The needs of a net with a checkpoint of so many million weights."""
    save_file({"weight": np.zeros(millions * 10**6, np.float16)}, file)
    return needs(net=own)


def test_duality_asks_for_memory_for_matrices_over_the_weights_of_its_layer(plan_of):
    """512 x 10 weights: five matrices, and three numbers for each of them and test image."""
    plan = plan_of(study={"runs.base.net": RESNET, "measures.hidden.layer": "fc"})
    (measured, *_) = plan.measurements.values()
    matrices, pairs = 5 * 5120**2, 3 * 5120 * measured.run.samples.test_size
    least = 4000 + 8 * (10 * 11.17e6 + matrices + pairs) / 1e6
    assert measuring_needs(measured)["mem_mb"] == pytest.approx(least, rel=0.01)


def measured_mb(samples, **options):
    given = {"options": options, "run": RUN | {"samples": samples}}
    return measuring_needs(MeasureSpec.model_validate(given))["mem_mb"]


def test_a_measure_asks_for_memory_for_the_images_of_all_draws():
    """Once, in float32, with those of an attack set."""
    hessian = {"measure": "hessian", "top": 1}
    one_draw = measured_mb(RUN["samples"] | {"split": 0}, **hessian)
    drawn = measured_mb(RUN["samples"], **hessian)
    attack = {"subset": RUN["samples"], "size": 6000, "seeds": (0, 1)}
    assert drawn - one_draw == pytest.approx(PIXELS / 4, abs=2)
    assert measured_mb(attack, **hessian) - drawn == pytest.approx(PIXELS / 2, abs=2)


def test_forgetting_asks_for_memory_for_the_images_of_its_second_task():
    """400 and 800 images to train, besides 2,000 to test, in both draws."""
    forgetting = {"measure": "forgetting", "layer": "fc1", "strengths": [1], "directions": [1]}
    one, two = (measured_mb(RUN["samples"], task=task, **forgetting) for task in ([1], [1, 2]))
    assert two - one == pytest.approx(400 / 6000 * PIXELS / 2, abs=1.1)


def test_a_kernel_asks_for_memory_for_two_matrices_and_the_images_and_time_for_its_nets():
    """On two draws of 6,000 images: 36 million numbers in each matrix, 600 nets."""
    given = {name: RUN[name] for name in ("samples", "net", "input_shape")}
    kernel = kernel_needs(KernelSpec.model_validate(given))
    assert kernel == {"gpus": 0, "mem_mb": int(4000 + 2 * 288 + PIXELS / 2), "runtime": 60 + 2}


def test_requests_grow_with_the_attempt():
    assert [growing(10)(None, attempt) for attempt in (1, 2, 3)] == [10, 20, 30]


def test_a_gpu_is_requested_as_gpu_or_as_gres():
    for count, gres in ((0, ""), (1, "gpu:1"), (4, "gpu:4")):
        jobs = {"one": SimpleNamespace(gpus=count)}
        (by_gpu,) = gpu_request(jobs, by_gres=False).items()
        (by_gres,) = gpu_request(jobs, by_gres=True).items()
        assert (by_gpu[0], by_gpu[1](["one"])) == ("gpu", count)
        assert (by_gres[0], by_gres[1](["one"])) == ("gres", gres)


def test_the_profiles_of_clusters_differ_only_in_how_they_request_a_gpu():
    slurm, gres = (
        yaml.safe_load((PROFILES / name / "profile.yaml").read_text())
        for name in ("slurm", "slurm-gres")
    )
    assert gres.pop("default-resources") == {"gpus_by_gres": 1}
    assert gres == slurm
    shared = yaml.safe_load((PROFILES / "default/profile.yaml").read_text())
    assert {key: slurm[key] for key in shared.keys() & slurm.keys()} == {
        key: shared[key]
        for key in (
            *("rerun-triggers", "keep-going", "rerun-incomplete", "scheduler"),
            *("__use_yte__", "__definitions__"),
        )
    }
