"""Fewer test images, against the duality of a solution that has no more of them."""

from dataclasses import replace

import numpy as np
import pytest

from flatlas.errors import FlatlasError
from flatlas.measures import measure


def study(solution, *sizes):
    options = {"layer": "fc2", "directions": "hessian", "sizes": sizes}
    tables = measure("test_images", solution, options)
    return tables["directions"], tables["summary"]


def cut(solution, size):
    return replace(
        solution,
        test_inputs=solution.test_inputs[:, :size],
        test_labels=solution.test_labels[:, :size],
    )


@pytest.mark.parametrize("labels", ["all", "one without training images"])
def test_each_size_is_the_duality_of_so_many_images(make_solution, labels):
    solution = make_solution("two_hidden", images=100)
    if labels != "all":
        solution.labels[solution.labels == 1] = 2
    directions, summary = study(solution, 10, 20, 25)
    assert summary["test_images"].tolist() == [10, 20, 25]
    for size, row in summary.set_index("test_images").iterrows():
        options = {"layer": "fc2", "directions": "hessian", "sharp": "steepest"}
        expected = measure("duality", cut(solution, int(size)), options)
        rows = directions[directions["test_images"] == size]
        for name in ("n", "sigma_g", "sigma_w", "gap"):
            np.testing.assert_allclose(rows[name], expected["directions"][name], atol=1e-13)
        for name in ("mu_g", "mu_w"):
            np.testing.assert_allclose(abs(rows[name]), abs(expected["directions"][name]))
        for name in ("pairs", "pairwise_gap", "dual_gap", "mu_gap"):
            assert row[name] == pytest.approx(expected["summary"][name][0], rel=1e-12), name


def test_ratios_of_means_to_deviations(make_solution):
    """Directions in which nothing changes, those of a silent neuron below, are left out."""
    solution = make_solution("two_hidden", images=100)
    solution.parameters["fc1.weight"][:, :, 4] = 0.0
    directions, summary = study(solution, 20)
    moving = directions[:48]
    relative = directions["sigma_g"] / directions["sigma_g"][0]
    assert relative[47] > 1e-6 > 1e-12 > relative[48]
    for name in ("w", "g"):
        ratio = np.mean(np.abs(moving[f"mu_{name}"] / moving[f"sigma_{name}"]))
        assert summary[f"mu_{name}_ratio"][0] == pytest.approx(ratio)


def test_more_images_than_drawn_are_refused(make_solution):
    with pytest.raises(FlatlasError, match="asks for 26 test images, but only 25 are drawn"):
        study(make_solution("two_hidden"), 10, 26)


def test_a_size_without_any_pair_is_refused(make_solution):
    solution = make_solution("two_hidden")
    solution.labels[solution.labels == 0] = 1
    with pytest.raises(FlatlasError, match="none of the first 1 test images"):
        study(solution, 1, 25)
