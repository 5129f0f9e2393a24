"""Samples that a source of known size does not have are refused by their key."""

import re
from pathlib import Path

import numpy as np
import pytest
from small_configuration import Removed

from flatlas.data.sources import digits, textures
from flatlas.plan.data_specs import Cifar10, Cifar100, Digits, Mnist, Textures
from flatlas.plan.described import settings_of
from flatlas.plan.source_sizes import images_of_each_class

RUN, HIDDEN = "runs.base", "measures.hidden"


@pytest.mark.parametrize(
    ("source", "load"),
    [
        (Digits(kind="digits"), digits.load),
        (
            Textures(kind="textures", classes=3, side=8, train_per_class=5, test_per_class=2),
            textures.load,
        ),
    ],
)
def test_the_known_sizes_are_those_of_the_source(source, load):
    images = load(source, Path())
    for known, labels in zip(
        images_of_each_class(source), (images.train_labels, images.test_labels), strict=True
    ):
        assert known == tuple(np.bincount(labels))


@pytest.mark.parametrize(
    ("source", "train", "test"),
    [
        (Mnist(kind="mnist"), 60_000, 10_000),
        (Cifar10(kind="cifar10"), 50_000, 10_000),
        (Cifar100(kind="cifar100"), 50_000, 10_000),
    ],
)
def test_the_downloaded_sources_have_their_published_sizes(source, train, test):
    assert tuple(map(sum, images_of_each_class(source))) == (train, test)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"per_class": 120}, "per_class is 120, but digits has only 116 "),
        ({"per_class": 119, "only": [2]}, "per_class is 119, but digits has only 118 "),
        ({"test_size": 597}, "test_size is 597, but digits has only 596 "),
        ({"test_size": 120, "classes": [1, 8]}, "test_size is 120, but digits has only 118 "),
        ({"per_class": Removed, "train_size": 1_202}, "train_size is 1,202, but .* 1,201 "),
        ({"attack_size": 1_102}, "attack_size is 1,102, but digits has only 1,101 "),
    ],
)
def test_more_images_than_the_source_has_are_refused(refusal, data, said):
    changes = {f"{RUN}.data.{key}": value for key, value in data.items()}
    assert re.match(f"{RUN}.data.{said}", refusal(changes))


def test_the_most_that_the_source_has_and_at_most_more_are_planned(plan_of):
    most = {"per_class": Removed, "train_size": 1_201, "test_size": 596}
    more = {"train_size": 5_000, "test_size": 5_000, "at_most": True}
    for data in (most, most | more):
        assert plan_of(study={f"{RUN}.data.{key}": value for key, value in data.items()}).runs


AT_MOST = {f"{RUN}.data": {"source": "digits", "train_size": 5_000, "test_size": 9_000}}
AT_MOST[f"{RUN}.data"]["at_most"] = True


def test_a_full_batch_of_a_smaller_source_is_all_that_it_has(plan_of):
    plan = plan_of(study=AT_MOST | {"sweeps.batch.grid.batch": ["full", 1_200]})
    points = [one.point for one in plan.figures["flat_fig2"].entries if one.sweep == "batch"]
    assert [point["batch"] for point in points] == [1_201, 1_200]
    settings = settings_of(next(iter(plan.runs.values())))
    assert (settings["data.train_size"], settings["data.test_size"]) == (1_201, 596)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sweeps.batch.grid.batch": [1_202]}, "sweeps.batch.grid.batch is 1202"),
        ({"sweeps.batch.grid.batch": [1_201, "full"]}, "sweeps.batch has two points that are "),
        ({HIDDEN: {"measure": "regret", "batch": 1_202}}, f"{HIDDEN}.batch is 1,202"),
        (
            {HIDDEN: {"measure": "test_images", "layer": "fc2", "sizes": [597]}},
            f"{HIDDEN}.sizes asks for 597",
        ),
        (
            {"sweeps.batch.grid": {"data.train_size": [1_202, 5_000]}},
            "sweeps.batch has two points that are the same run, the second with data.train_size",
        ),
        # Two of the 5,000 that are asked for.
        ({f"{RUN}.data.label_noise": 3e-4}, f"{RUN}.data.label_noise is 0.0003"),
    ],
)
def test_more_images_than_a_smaller_source_has_are_refused_where_they_are_taken(
    refusal, changes, said
):
    assert refusal(AT_MOST | changes).startswith(said)


def test_any_label_noise_is_planned_for_a_source_of_unknown_size(plan_of):
    own = {"sources.digits": {"kind": "folder", "path": "pets", "classes": 10}}
    assert plan_of(study=AT_MOST | {f"{RUN}.data.label_noise": 1e-5}, user=own).runs


def test_a_measure_takes_no_more_images_than_training_and_test_images_together(plan_of, refusal):
    binary = {f"{RUN}.data.positive": [1], f"{RUN}.net.init": {"scheme": "he_normal"}}
    study = binary | {HIDDEN: {"measure": "orthant", "sizes": [120, 3]}}
    assert plan_of(study=study).measurements
    said = refusal(study | {f"{HIDDEN}.sizes": [3, 121]})
    assert said.startswith(f"{HIDDEN}.sizes asks for 121")


FUNCTIONS = {
    f"{RUN}.data": {"source": "boolean", "functions": {"draws": 100}},
    "sweeps.batch.grid.batch": [5, 4],
}


def test_a_measure_takes_no_more_different_images_than_functions_have(plan_of, refusal):
    """S and E are the same inputs."""
    study = FUNCTIONS | {f"{RUN}.net.init": {"scheme": "he_normal"}}
    study |= {HIDDEN: {"measure": "orthant", "sizes": [4, 8]}}
    assert plan_of(study=study).measurements
    assert refusal(study | {f"{HIDDEN}.sizes": [4, 9]}).startswith(f"{HIDDEN}.sizes asks for 9")


def test_a_measure_takes_no_more_test_images_than_functions_have(plan_of, refusal):
    measure = {"measure": "test_images", "layer": "fc2", "sizes": [8]}
    assert plan_of(study=FUNCTIONS | {HIDDEN: measure}).measurements
    assert refusal(FUNCTIONS | {HIDDEN: measure | {"sizes": [9]}}).startswith(
        f"{HIDDEN}.sizes asks"
    )
