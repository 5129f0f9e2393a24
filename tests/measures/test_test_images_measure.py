"""Fewer test images, against the duality of a solution that has no more of them."""

from dataclasses import replace

import numpy as np
import pytest
from solutions import make_solution

from flatlas.measures import measure

HESSIAN = {"layer": "fc2", "directions": "hessian"}


def taken(solution, *sizes):
    tables = measure("test_images", solution, HESSIAN | {"sizes": sizes})
    return tables["directions"], tables["summary"]


@pytest.mark.parametrize("labels", ["all", "one without training images"])
def test_each_size_is_the_duality_of_so_many_images(labels):
    solution = make_solution("two_hidden", images=100)
    if labels != "all":
        solution.labels[solution.labels == 1] = 2
    directions, summary = taken(solution, 10, 20, 25)
    for size, (_, row) in zip((10, 20, 25), summary.iterrows(), strict=True):
        inputs, labels = solution.test_inputs[:, :size], solution.test_labels[:, :size]
        few = replace(solution, test_inputs=inputs, test_labels=labels)
        expected = measure("duality", few, HESSIAN | {"sharp": "steepest"})
        rows, alone = directions[directions["test_images"] == size], expected["directions"]
        for name in ("n", "sigma_g", "sigma_w", "gap"):
            np.testing.assert_allclose(rows[name], alone[name], atol=1e-13)
        for name in ("mu_g", "mu_w"):
            np.testing.assert_allclose(abs(rows[name]), abs(alone[name]))
        names = ["pairs", "pairwise_gap", "dual_gap", "mu_gap"]
        assert row["test_images"] == size
        assert row[names].tolist() == pytest.approx(expected["summary"].loc[0, names], rel=1e-12)


def test_ratios_are_means_over_directions_in_which_something_changes():
    """Directions after a silent neuron are left out."""
    solution = make_solution("two_hidden", images=100)
    solution.parameters["fc1.weight"][:, :, 4] = 0.0
    directions, summary = taken(solution, 20)
    moving = directions[:48]
    relative = directions["sigma_g"] / directions["sigma_g"][0]
    assert relative[47] > 1e-6 > 1e-12 > relative[48]
    for name in ("w", "g"):
        ratio = np.mean(np.abs(moving[f"mu_{name}"] / moving[f"sigma_{name}"]))
        assert summary[f"mu_{name}_ratio"][0] == pytest.approx(ratio)
