"""The decomposition against pair-by-pair arithmetic and exact sums."""

import numpy as np
import pytest
import torch
from solutions import changed, layer_hessian, losses_of, make_solution, partners_by_search

from flatlas.measures import measure
from flatlas.nets.loss import sample_losses


def tables(solution, layer="fc2", directions="hessian", sharp="steepest"):
    options = {"layer": layer, "directions": directions, "sharp": sharp}
    found = measure("duality", solution, options)
    return found["directions"], found["summary"].iloc[0]


@pytest.mark.parametrize(
    ("net", "layer", "outputs"),
    [
        ("one_hidden", "fc1", 3),
        ("two_hidden", "fc2", 1),
        ("biases", "fc2", 3),
        ("deep", "fc3", 3),
        ("deep", "fc5", 1),
        ("convolutional", "fc1", 3),
    ],
)
def test_the_sum_over_directions_is_the_gap_in_either_basis(net, layer, outputs):
    """Σ (c_n σ_g σ_w + µ_g µ_w) = ΔL̃ (Eq. 10)."""
    solution = make_solution(net, outputs, images=100)
    totals = []
    for directions in ("hessian", "fisher"):
        rows, summary = tables(solution, layer, directions)
        total = (rows["correlation"] * rows["sigma_g"] * rows["sigma_w"] + rows["gap_mu"]).sum()
        assert total == pytest.approx(summary["pairwise_gap"], rel=1e-10)
        assert summary["zero_pairs"] == 0
        assert summary["sum_rule_residual"] < 1e-13
        assert summary["eigen_residual"] < 1e-13
        totals.append(summary[["pairwise_gap", "T_w", "T_g"]].tolist())
    assert totals[0] == pytest.approx(totals[1], rel=1e-10)


def test_pair_by_pair():
    """Every column, from loops over pairs and NumPy's deviations and correlations."""
    solution = make_solution("two_hidden", images=100, seed=3)
    # Mislabelled images are nobody's partner.
    solution.clean[0, ::4] = False
    rows, summary = tables(solution)
    weight, matrix = solution.parameters["fc2.weight"], layer_hessian(solution, "fc2").numpy()
    eigenvalues, vectors = np.linalg.eigh(matrix)
    assert np.diff(eigenvalues).min() > 1e-7 * eigenvalues.max(), "directions are well defined"
    shifts, gradients = [], []
    for k, partner in enumerate(partners_by_search(solution)):
        images = solution.inputs[:, [partner]], solution.test_inputs[:, [k]]
        a, test_a = (solution.net.into(solution.parameters, x, "fc2").flatten() for x in images)
        shift = torch.outer(a, (test_a - a) @ weight[0]) / (a @ a)
        moved = losses_of(changed(solution, fc2=weight + shift), [partner])
        gap = (moved - losses_of(solution, [partner])).numpy()
        shifts.append(vectors.T @ shift.flatten().numpy())
        gradients.append(shifts[-1] * gap / shift.square().sum().numpy())

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
    totals = [matrix.trace(), w.std(0).sum(), w.var(0).sum(), g.var(0).sum()]
    assert summary[["T_h", "S_w", "T_w", "T_g"]].tolist() == pytest.approx(totals)


def test_the_summary():
    solution = make_solution("biases")
    # Mislabelled images count in the training loss.
    solution.clean[0, ::4] = False
    rows, summary = tables(solution, sharp=4)
    logits = solution.net.forward(solution.parameters, solution.test_inputs)
    weights = torch.cat([tensor.flatten() for tensor in solution.parameters.values()])
    expected = {
        "pairs": 25,
        "unpartnered": 0,
        "n_sharp": 4,
        "gap_sharp": rows["gap"][:4].sum(),
        "gap_flat": rows["gap"][4:].sum(),
        "dual_gap": rows["gap"].sum(),
        "mu_gap": rows["gap_mu"].sum(),
        "train_loss": losses_of(solution).mean().item(),
        "test_loss": sample_losses(logits, solution.test_labels).mean().item(),
        "test_error": (logits.argmax(-1) != solution.test_labels).double().mean().item(),
        "layer_norm": np.linalg.norm(solution.parameters["fc2.weight"]),
        "weight_norm": np.linalg.norm(weights),
    }
    assert summary[[*expected]].to_dict() == pytest.approx(expected)
    assert (rows["sigma_g"].diff().dropna() <= 0).all()


def test_pairs_without_dual_weights_are_counted_and_leave_no_nan():
    """One partner is black, so a = 0; two test images were trained on."""
    solution = make_solution("two_hidden", images=30, test_images=6)
    solution.inputs[0, 0] = 0.0
    solution.test_inputs[0, 0] = 1e-3
    solution.test_inputs[0, [1, 3]] = solution.inputs[0, [1, 3]]
    rows, summary = tables(solution)
    assert summary["zero_pairs"] == 3
    assert np.isfinite(rows.to_numpy(dtype=float)).all()
    assert np.isfinite(summary.to_numpy(dtype=float)).all()
    assert summary["sum_rule_residual"] > 1e-6


def test_a_class_without_training_images_is_counted():
    solution = make_solution("two_hidden")
    solution.labels[solution.labels == 2] = 1
    _, summary = tables(solution)
    assert (summary["pairs"], summary["unpartnered"]) == (17, 8)
