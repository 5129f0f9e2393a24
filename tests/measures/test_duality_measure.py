"""The decomposition against pair-by-pair arithmetic, exact sums and symmetries."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.measures import measure
from flatlas.nets.loss import sample_losses


def tables(solution, layer="fc2", directions="hessian", sharp="steepest"):
    options = {"layer": layer, "directions": directions, "sharp": sharp}
    found = measure("duality", solution, options)
    return found["directions"], found["summary"].iloc[0]


def losses(solution, inputs, labels, **changed):
    parameters = {**solution.parameters, **changed}
    return sample_losses(solution.net.forward(parameters, inputs), labels).squeeze(0)


CASES = [
    ("one_hidden", "fc1", 3),
    ("two_hidden", "fc2", 1),
    ("biases", "fc2", 3),
    ("deep", "fc3", 3),
    ("deep", "fc5", 1),
    ("convolutional", "fc1", 3),
]


@pytest.mark.parametrize("directions", ["hessian", "fisher"])
@pytest.mark.parametrize(("net", "layer", "outputs"), CASES)
def test_the_sum_over_directions_is_the_gap(make_solution, net, layer, outputs, directions):
    """Σ (c_n σ_g σ_w + µ_g µ_w) = ΔL̃ (Eq. 10), whatever the basis."""
    solution = make_solution(net, outputs, images=100)
    rows, summary = tables(solution, layer, directions)
    assert summary["zero_pairs"] == 0
    total = (rows["correlation"] * rows["sigma_g"] * rows["sigma_w"] + rows["gap_mu"]).sum()
    assert total == pytest.approx(summary["pairwise_gap"], rel=1e-10)
    assert summary["sum_rule_residual"] < 1e-13
    assert summary["eigen_residual"] < 1e-13


def test_pair_by_pair(make_solution):
    """Every column, from loops over pairs and numpy's own deviations and correlations."""
    solution = make_solution("two_hidden", images=100, seed=3)
    rows, summary = tables(solution)
    weight = solution.parameters["fc2.weight"]

    def mean_loss(flat):
        changed = {"fc2.weight": flat.reshape(weight.shape)}
        return losses(solution, solution.inputs, solution.labels, **changed).mean()

    matrix = torch.autograd.functional.hessian(mean_loss, weight.flatten()).numpy()
    eigenvalues, vectors = np.linalg.eigh(matrix)
    assert np.diff(eigenvalues).min() > 1e-7 * eigenvalues.max(), "directions are well defined"
    train, test = solution.inputs[0].flatten(1), solution.test_inputs[0].flatten(1)
    shifts, gradients = [], []
    for k, label in enumerate(solution.test_labels[0]):
        distance = (train - test[k]).norm(dim=1)
        distance[solution.labels[0] != label] = np.inf
        x = solution.inputs[:, [int(distance.argmin())]]
        a, test_a = (
            solution.net.into(solution.parameters, image, "fc2").flatten()
            for image in (x, solution.test_inputs[:, [k]])
        )
        shift = torch.outer(a, (test_a - a) @ weight[0]) / (a @ a)
        changed = {"fc2.weight": weight + shift}
        one = solution.test_labels[:, [k]]
        gap = losses(solution, x, one, **changed) - losses(solution, x, one)
        shifts.append(vectors.T @ shift.flatten().numpy())
        gradients.append(shifts[-1] * gap.numpy() / shift.square().sum().numpy())

    w, g = np.array(shifts), np.array(gradients)
    order = np.argsort(-g.std(0))
    w, g = w[:, order], g[:, order]
    correlation = [np.corrcoef(g[:, n], w[:, n])[0, 1] for n in range(len(order))]
    expected = {
        "n": np.arange(1, 55),
        "eigenvalue": eigenvalues[order],
        "sigma_g": g.std(0),
        "sigma_w": w.std(0),
        "S_w": w.std(0).cumsum(),
        "correlation": correlation,
        "gap": np.array(correlation) * g.std(0) * w.std(0),
        "gap_mu": g.mean(0) * w.mean(0),
    }
    for name, column in expected.items():
        np.testing.assert_allclose(rows[name], column, rtol=1e-7, atol=1e-12, err_msg=name)
    for name, column in {"mu_g": g.mean(0), "mu_w": w.mean(0)}.items():
        np.testing.assert_allclose(rows[name].abs(), abs(column), rtol=1e-7, err_msg=name)
    assert summary["T_h"] == pytest.approx(matrix.trace())
    assert summary["S_w"] == pytest.approx(w.std(0).sum())
    assert summary["T_w"] == pytest.approx(w.var(0).sum())
    assert summary["T_g"] == pytest.approx(g.var(0).sum())


def test_totals_do_not_depend_on_the_basis(make_solution):
    solution = make_solution("two_hidden", images=100)
    _, by_hessian = tables(solution)
    _, by_fisher = tables(solution, directions="fisher")
    for name in ("pairwise_gap", "T_w", "T_g"):
        assert by_hessian[name] == pytest.approx(by_fisher[name], rel=1e-12)
    totals = [summary["dual_gap"] + summary["mu_gap"] for summary in (by_hessian, by_fisher)]
    assert totals[0] == pytest.approx(totals[1], rel=1e-10)
    assert by_hessian["dual_gap"] != by_fisher["dual_gap"]


def test_a_rescaled_layer_keeps_every_contribution(make_solution):
    """w -> p w and next layer -> w / p leave the net and each ΔL_n alone (§3)."""
    solution = make_solution("two_hidden", images=100, seed=3)
    p = 3.0
    rescaled = {
        **solution.parameters,
        "fc2.weight": p * solution.parameters["fc2.weight"],
        "fc3.weight": solution.parameters["fc3.weight"] / p,
    }
    rows, _ = tables(solution)
    scaled, _ = tables(replace(solution, parameters=rescaled))
    for name, power in {"gap": 0, "sigma_w": 1, "sigma_g": -1, "eigenvalue": -2}.items():
        np.testing.assert_allclose(scaled[name], p**power * rows[name], rtol=1e-6, err_msg=name)


def test_the_summary(make_solution):
    solution = make_solution("biases")
    rows, summary = tables(solution, sharp=4)
    train = losses(solution, solution.inputs, solution.labels)
    test = losses(solution, solution.test_inputs, solution.test_labels)
    guess = solution.net.forward(solution.parameters, solution.test_inputs).argmax(-1)
    weights = torch.cat([tensor.flatten() for tensor in solution.parameters.values()])
    expected = {
        "pairs": 25,
        "unpartnered": 0,
        "n_sharp": 4,
        "gap_sharp": rows["gap"][:4].sum(),
        "gap_flat": rows["gap"][4:].sum(),
        "dual_gap": rows["gap"].sum(),
        "mu_gap": rows["gap_mu"].sum(),
        "train_loss": train.mean().item(),
        "test_loss": test.mean().item(),
        "test_error": (guess != solution.test_labels).double().mean().item(),
        "layer_norm": np.linalg.norm(solution.parameters["fc2.weight"]),
        "weight_norm": np.linalg.norm(weights),
    }
    for name, value in expected.items():
        assert summary[name] == pytest.approx(value), name
    assert (rows["sigma_g"].diff().dropna() <= 0).all()
    assert (rows["correlation"].abs() <= 1 + 1e-12).all()


def test_a_mislabelled_image_is_nobodys_partner(make_solution):
    """Even where it lies on top of a test image; and it counts as trained on all the same."""
    solution = make_solution("two_hidden")
    solution.inputs[0, :25] = solution.test_inputs[0]
    solution.clean[0, :25] = False
    _, summary = tables(solution)
    assert summary["zero_pairs"] == 0
    train = losses(solution, solution.inputs, solution.labels)
    assert summary["train_loss"] == pytest.approx(train.mean().item())


def test_pairs_without_dual_weights_are_counted_and_leave_no_nan(make_solution):
    """A partner that is black, so that a = 0; and two test images that were trained on."""
    solution = make_solution("two_hidden", outputs=3, images=30, test_images=6)
    solution.inputs[0, 0] = 0.0
    solution.test_inputs[0, 0] = 1e-3
    solution.test_inputs[0, [1, 3]] = solution.inputs[0, [1, 3]]
    rows, summary = tables(solution)
    assert summary["zero_pairs"] == 3
    assert np.isfinite(rows.to_numpy(dtype=float)).all()
    assert np.isfinite(summary.to_numpy(dtype=float)).all()
    assert summary["sum_rule_residual"] > 1e-6


def test_a_class_without_training_images_is_counted(make_solution):
    solution = make_solution("two_hidden")
    solution.labels[solution.labels == 2] = 1
    _, summary = tables(solution)
    assert (summary["pairs"], summary["unpartnered"]) == (17, 8)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"layer": "fc9"}, "layer 'fc9' is no layer of this net. Dense layers: fc1, fc2, fc3"),
        ({"layer": "conv1"}, "layer 'conv1' is a convolution of this net"),
        ({"layer": "fc3", "sharp": 19}, "sharp is 19, but the layer has 18 directions"),
    ],
)
def test_what_cannot_be_measured(make_solution, options, told):
    with pytest.raises(FlatlasError, match=told):
        tables(make_solution("convolutional"), **options)
