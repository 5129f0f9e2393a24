"""The duality of a layer, pair by pair, and its variants against the duality itself."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import along, layer_hessian, losses_of, make_solution, partners_by_search

from flatlas.flatness.split import live, steepest_drop
from flatlas.measures import measure
from flatlas.nets.loss import sample_losses

HESSIAN = {"layer": "fc2", "directions": "hessian"}
EIGH = torch.linalg.eigh


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


def pairs(solution, layer):
    """The loss of each partner as a function of the layer's flattened weights, these, and Δw."""
    losses, flat = along(solution, layer)
    weight = solution.parameters[f"{layer}.weight"][0]
    for k, partner in enumerate(partners_by_search(solution)):
        images = solution.inputs[:, [partner]], solution.test_inputs[:, [k]]
        a, test_a = (solution.net.into(solution.parameters, x, layer).flatten() for x in images)
        shift = torch.outer(a, (test_a - a) @ weight) / (a @ a)
        yield lambda w, image=partner: losses(w, [image])[0], flat, shift.flatten()


def test_pair_by_pair():
    """Every column, from loops over pairs and NumPy's deviations and correlations."""
    solution = make_solution("two_hidden", images=100, seed=3)
    # Mislabelled images are nobody's partner.
    solution.clean[0, ::4] = False
    rows, summary = tables(solution)
    matrix = layer_hessian(solution, "fc2").numpy()
    eigenvalues, vectors = np.linalg.eigh(matrix)
    assert np.diff(eigenvalues).min() > 1e-7 * eigenvalues.max(), "directions are well defined"
    shifts, gradients = [], []
    for loss, flat, shift in pairs(solution, "fc2"):
        gap = (loss(flat + shift) - loss(flat)).numpy()
        shifts.append(vectors.T @ shift.numpy())
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
    for table in (rows, summary, *scaled(solution, "fc2", 0.1, 1.0)):
        assert np.isfinite(table.to_numpy(dtype=float)).all()
    assert summary["sum_rule_residual"] > 1e-6


def test_a_class_without_training_images_is_counted():
    solution = make_solution("two_hidden")
    solution.labels[solution.labels == 2] = 1
    _, summary = tables(solution)
    assert (summary["pairs"], summary["unpartnered"]) == (17, 8)


POWERS = {"eigenvalue": -2, "sigma_g": -1, "sigma_w": 1, "gap": 0}


def rescaled(solution, *factors):
    return measure("scale_invariance", solution, HESSIAN | {"factors": factors})["directions"]


@pytest.mark.parametrize("net", ["two_hidden", "biases"])
def test_directions_are_those_of_a_rescaled_net(net):
    """Δw ~ p, g ~ 1/p and H ~ 1/p² in every direction, so ΔL_n does not change.

    fc2 and its bias are multiplied by p, fc3's weights divided by p.
    """
    solution = make_solution(net, images=100, seed=3)
    unscaled, _ = tables(solution)
    logits = solution.net.forward(solution.parameters, solution.inputs)
    for p, table in rescaled(solution, 0.3, 1.0, 7.0).groupby("factor"):
        scaled = make_solution(net, images=100, seed=3)
        for name, factor in {"fc2.weight": p, "fc2.bias": p, "fc3.weight": 1 / p}.items():
            if name in scaled.parameters:
                scaled.parameters[name] *= factor
        changed = scaled.net.forward(scaled.parameters, scaled.inputs)
        np.testing.assert_allclose(changed, logits, rtol=1e-11)
        assert table["n"].tolist() == unscaled["n"].tolist()
        for name, power in POWERS.items():
            expected = p**power * unscaled[name]
            largest = 1e-9 * expected.abs().max()
            for other in (expected, tables(scaled)[0][name]):
                np.testing.assert_allclose(table[name], other, rtol=1e-6, atol=largest)


def test_directions_keep_their_rank_beside_arbitrary_ones():
    """A neuron silent in training has six directions of eigenvalue 0, in arbitrary order."""
    solution = make_solution("biases", images=100, seed=3)
    solution.parameters["fc2.bias"][:, 0] = -1e3
    rows = rescaled(solution, 1.0, 3.0)
    one, three = (table.set_index("n") for _, table in rows.groupby("factor"))
    curved = one["eigenvalue"] > 1e-12 * one["eigenvalue"].max()
    assert (~curved).sum() == 8
    assert (one["sigma_g"][~curved] > 1e-6).any()
    largest = 1e-9 * one["gap"].abs().max()
    np.testing.assert_allclose(three["gap"][curved], one["gap"][curved], rtol=1e-6, atol=largest)
    assert three["gap"][~curved].sum() == pytest.approx(one["gap"][~curved].sum(), rel=1e-6)


def rotated_eigh(matrix):
    """Eigenvectors of zero curvature mixed at random: another solver's choice."""
    values, vectors = EIGH(matrix)
    flat = torch.nonzero(values < 1e-12 * values.max()).squeeze(1)
    mix = torch.randn(len(flat), len(flat), generator=torch.manual_seed(0), dtype=values.dtype)
    vectors[:, flat] = vectors[:, flat] @ torch.linalg.qr(mix).Q
    return values, vectors


def test_the_size_over_curved_directions_does_not_depend_on_the_solver(monkeypatch):
    """A neuron silent in training leaves directions without curvature, in which S_w is open."""
    solution = make_solution("biases", images=100, seed=3)
    solution.parameters["fc2.bias"][:, 0] = -1e3
    rows, one = tables(solution)
    monkeypatch.setattr(torch.linalg, "eigh", rotated_eigh)
    _, other = tables(solution)
    assert other["eigen_residual"] < 1e-13, "these are eigenvectors, too"
    assert abs(other["S_w"] / one["S_w"] - 1) > 1e-3
    assert other["S_w_curved"] == pytest.approx(one["S_w_curved"], rel=1e-12)
    silent = rows["eigenvalue"].abs() < 1e-12 * rows["eigenvalue"].max()
    assert silent.sum() == 8
    assert one["S_w_curved"] == pytest.approx(rows["sigma_w"][~silent].sum(), rel=1e-12)


def scaled(solution, layer, *scales):
    options = {"layer": layer, "directions": "hessian", "scales": scales}
    tables = measure("scaled_shift", solution, options)
    return tables["directions"], tables["summary"]


@pytest.mark.parametrize(
    ("net", "layer", "outputs"),
    [("one_hidden", "fc1", 3), ("biases", "fc2", 3), ("deep", "fc3", 1), ("deep", "fc5", 3)],
)
def test_a_scale_of_one_is_the_duality(net, layer, outputs):
    solution = make_solution(net, outputs, images=100)
    rows, summary = scaled(solution, layer, 0.5, 1.0)
    expected, total = tables(solution, layer)
    rows = rows[rows["scale"] == 1.0]
    assert rows["n"].tolist() == expected["n"].tolist()
    largest = expected["sigma_g"].max()
    np.testing.assert_allclose(rows["sigma_g"], expected["sigma_g"], atol=1e-11 * largest)
    for name in ("T_g", "T_h"):
        assert summary[name][1] == pytest.approx(total[name], rel=1e-11)
    assert summary["scale"].tolist() == [0.5, 1.0]
    assert summary["T_g"][0] != summary["T_g"][1]


@pytest.mark.parametrize("scale", [0.2, 0.7])
@pytest.mark.parametrize("net", ["two_hidden", "biases"])
def test_the_total_is_that_of_changed_weights(net, scale):
    """Each loss comes from a forward pass with w + s_w Δw."""
    solution = make_solution(net, images=12, test_images=12)
    gradients = [
        (loss(w + scale * shift) - loss(w)) / (scale * shift.square().sum()) * shift
        for loss, w, shift in pairs(solution, "fc2")
    ]
    _, summary = scaled(solution, "fc2", scale)
    # The same in every basis.
    total = torch.stack(gradients).var(0, correction=0).sum().item()
    assert summary["T_g"][0] == pytest.approx(total, rel=1e-10)


def with_sizes(solution, *sizes):
    tables = measure("test_images", solution, HESSIAN | {"sizes": sizes})
    return tables["directions"], tables["summary"]


@pytest.mark.parametrize("labels", ["all", "one without training images"])
def test_each_size_is_the_duality_of_so_many_images(labels):
    solution = make_solution("two_hidden", images=100)
    if labels != "all":
        solution.labels[solution.labels == 1] = 2
    directions, summary = with_sizes(solution, 10, 20, 25)
    for size, (_, row) in zip((10, 20, 25), summary.iterrows(), strict=True):
        inputs, labels = solution.test_inputs[:, :size], solution.test_labels[:, :size]
        few = replace(solution, test_inputs=inputs, test_labels=labels)
        rows, (alone, expected) = directions[directions["test_images"] == size], tables(few)
        for name in ("n", "sigma_g", "sigma_w", "gap"):
            np.testing.assert_allclose(rows[name], alone[name], atol=1e-13)
        for name in ("mu_g", "mu_w"):
            np.testing.assert_allclose(abs(rows[name]), abs(alone[name]))
        names = ["pairs", "pairwise_gap", "dual_gap", "mu_gap"]
        assert row["test_images"] == size
        assert row[names].tolist() == pytest.approx(expected[names].tolist(), rel=1e-12)


def test_ratios_are_means_over_directions_in_which_something_changes():
    """Directions after a silent neuron are left out."""
    solution = make_solution("two_hidden", images=100)
    solution.parameters["fc1.weight"][:, :, 4] = 0.0
    directions, summary = with_sizes(solution, 20)
    moving = directions[:48]
    relative = directions["sigma_g"] / directions["sigma_g"][0]
    assert relative[47] > 1e-6 > 1e-12 > relative[48]
    for name in ("w", "g"):
        ratio = np.mean(np.abs(moving[f"mu_{name}"] / moving[f"sigma_{name}"]))
        assert summary[f"mu_{name}_ratio"][0] == pytest.approx(ratio)


def levels(*pieces):
    """Pieces (count, level), each falling by 5 % from its first to its last rank."""
    return np.concatenate([level * np.linspace(1.0, 0.95, count) for count, level in pieces])


@pytest.mark.parametrize(
    ("spectrum", "expected"),
    [
        pytest.param(levels((10, 1.0), (890, 0.3)), 10, id="flat directions below"),
        pytest.param(levels((10, 1.0), (890, 1e-4)), 10, id="many too flat to count"),
        pytest.param(levels((10, 1.0), (90, 0.3), (800, 1e-17)), 10, id="tail at round-off"),
        pytest.param(levels((10, 1.0), (90, 0.3), (800, 0.0)), 10, id="tail of zeros"),
        pytest.param(
            levels((10, 1.0), (600, 0.3), (200, 1e-3), (90, 1e-6)), 10, id="rarely active neurons"
        ),
        pytest.param(levels((1, 1.3), (9, 1.0), (500, 0.3)), 10, id="one slightly above the rest"),
        pytest.param(levels((1, 9.0), (100, 1.0)), 1, id="one far above the rest"),
        pytest.param(levels((7, 1e-6), (100, 2e-7)), 7, id="small unit"),
        pytest.param(levels((7, 1e6), (100, 2e5)), 7, id="large unit"),
        pytest.param(np.zeros(3), 1, id="zeros"),
        pytest.param(np.array([1.0]), 1, id="one direction"),
        pytest.param(np.array([1.0, 0.0]), 1, id="one live direction"),
    ],
)
def test_the_sharp_directions_end_at_the_steepest_drop(spectrum, expected):
    assert steepest_drop(spectrum) == expected


def test_a_direction_at_round_off_is_not_live():
    assert live(np.array([2.0, 1e-3, 1e-11, 1e-13, 0.0])).tolist() == [True] * 3 + [False] * 2
