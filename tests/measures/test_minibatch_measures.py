"""Temperature, losses and noise of minibatches: closed forms, all minibatches, sampling theory."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.special import expit
from solutions import along, layer_hessian, make_solution
from torch.autograd.functional import jacobian

from flatlas.measures import curvature, landscape, measure, measure_each, minibatch_losses
from flatlas.measures.minibatch_losses import parabolas
from flatlas.measures.principal import principal_of
from flatlas.seeds import generator

TEMPERATURE = {"layer": "fc2", "directions": 4, "profiles": [], "batch": 3, "lr": 0.2}


def temperatures(solution, **chosen):
    return measure("active_temperature", solution, TEMPERATURE | chosen)


def test_a_linear_model():
    """∂l_k/∂δθ = (σ(z_k + δθ x_k·p) − y_k) x_k·p, and T = α/2 S² / B (1 − B/M)."""
    linear = make_solution("logistic", 1, images=30, shape=(1, 2, 3), layer="fc1")
    tables = temperatures(linear, layer="fc1", profiles=[2, 4])
    x, y = linear.inputs.flatten(2)[0].numpy(), linear.labels[0].numpy()
    projected = x @ principal_of(linear, "fc1", 4).directions.numpy().T
    factor = 0.2 / 2 / 3 * (1 - 3 / 30)
    still = linear.net.forward(linear.parameters, linear.inputs).flatten().numpy()
    slopes = (expit(still) - y)[:, None] * projected
    found = tables["directions"]["temperature"]
    np.testing.assert_allclose(found, factor * slopes.var(0, ddof=1), rtol=1e-12)
    assert len(tables["profiles"]) == 2 * 41
    for row in tables["profiles"].itertuples():
        mine = projected[:, row.rank - 1]
        z = still + row.delta * mine
        slopes = (expit(z) - y) * mine
        assert row.temperature == pytest.approx(factor * slopes.var(ddof=1), rel=1e-9)
        assert row.loss == pytest.approx(np.mean(np.logaddexp(0, z) - y * z), rel=1e-9)


@pytest.mark.parametrize(("net", "outputs"), [("biases", 3), ("convolutional", 1)])
def test_the_temperature_is_the_mean_over_all_minibatches(net, outputs):
    """All 56 minibatches of 3 of 8 images: ⟨(∂(L^µ − L)/∂δθ)²⟩ by automatic differentiation."""
    solution = make_solution(net, outputs, images=8, layer="fc2")
    rows = temperatures(solution)["directions"]
    losses, weights = along(solution, "fc2")
    minibatches = np.array([*combinations(range(8), 3)])
    for n, direction in enumerate(principal_of(solution, "fc2", 4).directions):
        zero = torch.zeros((), dtype=torch.float64)
        slopes = jacobian(lambda step, p=direction: losses(weights + step * p), zero).numpy()
        noise = slopes[minibatches].mean(1) - slopes.mean()
        expected = 0.2 / 2 * np.mean(noise**2)
        assert rows["temperature"][n] == pytest.approx(expected, rel=1e-9)
        assert rows["loss"][n] == pytest.approx(losses(weights).mean().item(), rel=1e-12)


def test_all_moments_share_the_directions_of_the_recording():
    """Each moment has the same temperature as when it is measured alone."""
    last = make_solution("two_hidden", layer="fc2")
    weights = {name: 0.5 * value for name, value in last.parameters.items()}
    first = replace(last, parameters=weights)
    together = measure_each("active_temperature", [first, last], TEMPERATURE)
    for tables, solution in zip(together, (first, last), strict=True):
        alone = temperatures(solution)["directions"]
        np.testing.assert_array_equal(tables["directions"], alone)


GRID = torch.linspace(-4, 4, 81, dtype=torch.float64)


def ensemble(solution, batch=5, profiles=(), layer="fc2"):
    options = {"layer": layer, "directions": 6, "profiles": list(profiles)}
    return measure("minibatch_losses", solution, {**options, "batch": batch, "minibatches": 12})


def minibatches_of(solution, batch=5):
    """The minibatches that the measure draws, image by image."""
    random = generator(solution.seed, "minibatch losses")
    return [random.choice(40, batch, replace=False) for _ in range(12)]


def test_parabolas_are_fitted_exactly():
    """Wide and narrow parabolas, some narrower than the grid."""
    steps = torch.stack([GRID, GRID / 4])
    at = torch.tensor([[0.33, -1.2, 2.0], [0.05, -0.3, 0.0]], dtype=torch.float64)
    bent = torch.tensor([[1.0, 2.0, 900.0], [1e4, 50.0, 30.0]], dtype=torch.float64)
    logs = 7 + bent[..., None] * (steps[:, None] - at[..., None]).square() / 2
    minimum, found_bent, found = parabolas(steps, logs)
    torch.testing.assert_close(minimum, at, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found_bent, bent, rtol=1e-9, atol=0)
    assert found.all()


def test_other_valleys_are_fitted_up_to_e_times_their_least():
    """NumPy fits a parabola through the points at most 1 above the least."""
    x = GRID
    logs = torch.stack([(x - 1).cosh(), (x + 0.5).abs(), x**4 - x])
    minimum, bent, found = parabolas(x.unsqueeze(0), logs.unsqueeze(0))
    for n, values in enumerate(logs.numpy()):
        low = values <= values.min() + 1
        c, b, _ = np.polyfit(x.numpy()[low], values[low], 2)
        assert minimum[0, n].item() == pytest.approx(-b / (2 * c), abs=1e-9)
        assert bent[0, n].item() == pytest.approx(2 * c, rel=1e-9)
    assert found.all()


def test_a_valley_that_does_not_end_within_reach_is_not_found():
    """Lines, a hill, a plain, and valleys whose minimum or whose one end is beyond the edge."""
    x = GRID
    forms = [x, -x, -x.square(), 0 * x, (x - 5).square(), (x - 3.5).square(), (x - 2).square()]
    _, _, found = parabolas(x.unsqueeze(0), torch.stack(forms).unsqueeze(0))
    assert found.tolist() == [[False] * 6 + [True]]


def test_a_parabola_whose_minimum_is_not_among_its_points_is_not_found():
    """A steep side and a concave one: the least squares have a minimum 60 grid steps away."""
    x = torch.arange(-40.0, 41.0, dtype=torch.float64)
    logs = torch.where(x < 0, -x, 0.2 * x.abs().sqrt())
    minimum, bent, found = parabolas(x.unsqueeze(0), logs[None, None])
    assert minimum.item() == pytest.approx(-60.6, abs=0.1)
    assert bent.item() > 0
    assert not found.item()


def test_directions_without_a_valley_have_no_minima():
    """If the valley of all images has no end, the steps and the losses are NaN."""
    x = torch.arange(-4.0, 5.0, dtype=torch.float64)
    steps = torch.stack([x, torch.full_like(x, torch.nan)])
    minimum, bent, found = parabolas(steps, (steps - 1).square().unsqueeze(1))
    assert found.tolist() == [[True], [False]]
    assert (minimum[0].item(), bent[0].item()) == pytest.approx((1, 2))


@pytest.mark.parametrize("unknown", [torch.nan, -torch.inf])
def test_minibatches_without_the_logarithm_of_a_loss_have_no_minimum(unknown):
    """Without that loss, the others would give a minimum."""
    steps = torch.arange(-4.0, 5.0, dtype=torch.float64)[None]
    logs = (steps - 1).square() + torch.tensor([[5.0], [6.0]]).double()
    logs[1, 2] = unknown
    minimum, _, found = parabolas(steps, logs[None])
    assert found.tolist() == [[True, False]]
    assert minimum[0, 0].item() == pytest.approx(1)


def test_losses_with_quadratic_logarithms(monkeypatch):
    """One image in a minibatch, ln l_k = |z_k − t_k|² / 2: minima and curvatures are known.

    Along p, with c = a_k P: M_ii = |c|², and the minimum is at −(z_k − t_k)·c / |c|².
    """

    def quadratic(logits, labels):
        targets = torch.stack([labels * 0.3, -labels * 0.2, 0.1 * labels], dim=-1)
        return ((logits - targets).square().sum(-1) / 2).exp() / 100

    for module in (landscape, curvature, minibatch_losses):
        monkeypatch.setattr(module, "sample_losses", quadratic)
    solution = make_solution("one_hidden", layer="fc2")
    # The images are so alike that all their valleys are within reach.
    solution.inputs[:] = solution.inputs[:, :1] + 0.1 * solution.inputs
    rows = ensemble(solution, batch=1)["directions"]
    chosen = np.concatenate(minibatches_of(solution, batch=1))
    a = solution.into("fc2", solution.inputs)[0, chosen].numpy()
    labels = solution.labels[0, chosen].numpy()[:, None]
    off = a @ solution.parameters["fc2.weight"][0].numpy() - labels * [0.3, -0.2, 0.1]
    for n, direction in enumerate(principal_of(solution, "fc2", 6).matrices((6, 3)).numpy()):
        bent = a @ direction
        m = (bent**2).sum(1)
        minima = -(off * bent).sum(1) / m
        variance = minima.var(ddof=1)
        expected = [1, minima.mean(), variance, m.mean(), m.mean() ** 2 * variance]
        names = ["found", "minimum", "minimum_variance", "curvature", "product"]
        assert rows.loc[n, names].tolist() == pytest.approx(expected, rel=1e-6)


def test_minibatches_without_a_minimum_do_not_count():
    tables = ensemble(make_solution("two_hidden", layer="fc2"), batch=1, profiles=range(1, 7))
    profiles = tables["profiles"][["delta", "loss"]].to_numpy().reshape(6, 12, -1, 2)
    steps, losses = torch.tensor(profiles[:, 0, :, 0]), torch.tensor(profiles[..., 1])
    # A loss of 0 has no logarithm.
    logs = losses.clamp_min(torch.finfo(losses.dtype).tiny).log()
    for row, minima, bent, found in zip(
        tables["directions"].itertuples(), *parabolas(steps, logs), strict=True
    ):
        assert 1 < found.sum() < 12
        assert row.found == pytest.approx(found.sum().item() / 12)
        assert row.minimum == pytest.approx(minima[found].mean().item())
        assert row.minimum_variance == pytest.approx(minima[found].var().item())
        assert row.curvature == pytest.approx(bent[found].mean().item())


@pytest.mark.parametrize(
    ("net", "layer", "outputs"), [("deep", "fc3", 3), ("convolutional", "fc1", 1)]
)
def test_profiles_are_the_minibatches_losses(net, layer, outputs):
    """Forward passes of the changed net on the images of each minibatch give the same losses."""
    solution = make_solution(net, outputs, layer=layer)
    rows = ensemble(solution, profiles=[5, 2], layer=layer)["profiles"]
    directions = principal_of(solution, layer, 6).directions
    losses, weight = along(solution, layer)
    drawn = minibatches_of(solution)
    assert rows["rank"].unique().tolist() == [5, 2]
    assert rows["minibatch"].unique().tolist() == list(range(1, 13))
    for row in rows.iloc[::97].itertuples():
        there = weight + row.delta * directions[row.rank - 1]
        expected = losses(there, drawn[row.minibatch - 1]).mean().item()
        assert row.loss == pytest.approx(expected, rel=1e-9)


def noise_of(solution, layer="fc2", batch=8, *, minibatches):
    options = {"layer": layer, "batch": batch, "minibatches": minibatches}
    return measure("minibatch_noise", solution, options)["directions"]


def directions_of(solution, layer):
    """Eigenvalues and eigenvectors of the Hessian by autograd, descending."""
    eigenvalues, vectors = np.linalg.eigh(layer_hessian(solution, layer).numpy())
    return eigenvalues[::-1], vectors[:, ::-1]


def components_of(solution, layer, vectors):
    """The components of each image's gradient along the directions (images, n)."""
    return jacobian(*along(solution, layer), vectorize=True).numpy() @ vectors


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("net", "layer"), [("two_hidden", "fc2"), ("biases", "fc2"), ("convolutional", "fc3")]
)
def test_minibatch_by_minibatch(net, layer, outputs):
    """Each learner's gradients at its weights, by autograd of the losses of each image."""
    solution = make_solution(net, outputs, images=60, seed=4, learners=3)
    rows = noise_of(solution, layer, minibatches=20)
    eigenvalues, vectors = directions_of(solution, layer)
    random = generator(4, "minibatch noise")
    components = []
    for learner in range(3):
        weights = {name: w[learner : learner + 1] for name, w in solution.learners.items()}
        of_images = components_of(replace(solution, parameters=weights), layer, vectors)
        drawn = [random.choice(60, 8, replace=False) for _ in range(20)]
        components.append([of_images[images].mean(0) for images in drawn])
    components = np.array(components)
    # Where eigenvalues coincide, directions among them are arbitrary.
    falls = -np.diff(eigenvalues, prepend=np.inf, append=-np.inf)
    distinct = np.minimum(falls[:-1], falls[1:]) > 1e-7
    assert distinct.sum() >= 3
    noise = components.reshape(60, -1).std(0, ddof=1)
    noise_of_mean = components.mean(0).std(0, ddof=1)
    np.testing.assert_array_equal(rows["n"], np.arange(1, len(eigenvalues) + 1))
    np.testing.assert_allclose(rows["eigenvalue"], eigenvalues, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows["noise"][distinct], noise[distinct], rtol=1e-6)
    np.testing.assert_allclose(rows["noise_of_mean"][distinct], noise_of_mean[distinct], rtol=1e-6)


@pytest.mark.parametrize("batch", [1, 10, 30])
def test_the_variance_is_that_of_a_sample_from_a_finite_population(batch):
    """Δ_n² = Var_k / B · (N − B) / (N − 1), within five standard errors of many minibatches."""
    solution, minibatches = make_solution("one_hidden"), 4000
    rows = noise_of(solution, batch=batch, minibatches=minibatches)
    components = components_of(solution, "fc2", directions_of(solution, "fc2")[1])
    expected = components.var(0) / batch * (40 - batch) / 39
    live = expected > 1e-12 * expected.max()
    # The variance of a sample variance; a single image's components have heavier tails.
    kurtosis = ((components - components.mean(0)) ** 4).mean(0)[live] / components.var(0)[live] ** 2
    spread = np.sqrt((np.maximum(kurtosis, 3) - 1) / minibatches)
    assert live.sum() >= 12
    assert (np.abs(rows["noise"][live] ** 2 / expected[live] - 1) < 5 * spread).all()


def test_distances_between_learners_add_noise_along_the_curvature():
    """δg_j = H δW_j (§2.5); minibatches of all images add nothing else.

    Learners a little apart along one direction have the noise H_n |δW| there and none elsewhere.
    """
    solution = make_solution("two_hidden")
    eigenvalues, vectors = directions_of(solution, "fc2")
    apart = 1e-6
    for n in (0, 4):
        step = apart * torch.tensor(vectors[:, n].copy()).reshape(1, 9, 6)
        weight = solution.parameters["fc2.weight"]
        both = {name: w.expand(2, *w.shape[1:]) for name, w in solution.parameters.items()}
        both["fc2.weight"] = torch.cat([weight - step, weight + step])
        rows = noise_of(replace(solution, learners=both), batch=40, minibatches=500)
        expected = np.zeros(54)
        expected[n] = eigenvalues[n] * apart
        np.testing.assert_allclose(rows["noise"], expected, rtol=2e-3, atol=1e-3 * expected[n])
        assert rows["noise_of_mean"].max() < 1e-3 * expected[n]
