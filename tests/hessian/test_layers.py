"""Second derivatives of nets with layers that torch computes by kernels that have none."""

import pytest
import torch
from torch import nn
from torch.backends import mha
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.parametrizations import weight_norm

from flatlas.hessian import hessian_of
from flatlas.hessian.fisher import FreeFisher, Predictions
from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient
from flatlas.measures import contrastive_flatness
from flatlas.measures.own import solution_of, take

WIDTH, HEADS, OUTPUTS = 8, 2, 3


class OfTokens(nn.Module):
    """The mean of an image's rows after `layer` has changed or mixed them."""

    def __init__(self, layer):
        super().__init__()
        self.embed, self.layer = nn.Linear(4, WIDTH), layer
        self.last = nn.Linear(WIDTH, OUTPUTS)

    def forward(self, images):
        return self.last(self.layer(self.embed(images.squeeze(1))).mean(1))


class Multihead(nn.MultiheadAttention):
    def forward(self, tokens):
        return tokens + super().forward(tokens, tokens, tokens, need_weights=False)[0]


class Causal(nn.Linear):
    def forward(self, tokens):
        queries, keys, values = (
            part.unflatten(2, (HEADS, -1)).transpose(1, 2)
            for part in super().forward(tokens).chunk(3, dim=2)
        )
        heads = scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return heads.transpose(1, 2).flatten(2)


# A block of a transformer has a kernel of its own.
LAYERS = {
    "attention": lambda: Multihead(WIDTH, HEADS, batch_first=True),
    "function of attention": lambda: Causal(WIDTH, 3 * WIDTH),
    "block": lambda: nn.TransformerEncoderLayer(
        WIDTH, HEADS, 12, activation="gelu", batch_first=True
    ),
    "weight norm": lambda: nn.Sequential(weight_norm(nn.Linear(WIDTH, WIDTH)), nn.Tanh()),
    "hardsigmoid": lambda: nn.Sequential(nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Hardsigmoid()),
}


@pytest.fixture(params=LAYERS.values(), ids=LAYERS)
def solution(request):
    torch.manual_seed(0)
    images, test_images = torch.rand(9, 1, 4, 4), torch.rand(4, 1, 4, 4)
    labels, test_labels = torch.arange(9) % OUTPUTS, torch.arange(4) % OUTPUTS
    module = OfTokens(request.param())
    return solution_of(module, images, labels, test_images, test_labels)


def test_products_with_the_hessian_are_differences_of_gradients(solution):
    given = solution.net, solution.parameters, solution.inputs, solution.labels
    hessian, (w,) = hessian_of(*given), flattened(*given[:2])
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    vectors = torch.randn(3, hessian.size, dtype=torch.float64)
    step = 1e-5
    above, below = (
        torch.stack([value_and_gradient(loss, w + sign * step * v)[1] for v in vectors])
        for sign in (1, -1)
    )
    expected = (above - below) / (2 * step)
    assert expected.abs().max() > 1e-3
    torch.testing.assert_close(hessian.product(vectors), expected, rtol=1e-5, atol=1e-8)
    assert mha.get_fastpath_enabled()


def test_products_with_the_fisher_matrix_are_those_of_its_scores(solution, request):
    """F is the mean over images of Σ_c p_c ∇ln p_c ∇ln p_cᵀ."""
    (w,) = flattened(solution.net, solution.parameters)
    vectors = torch.randn(3, len(w), dtype=torch.float64)
    expected = torch.zeros_like(vectors)
    for image in solution.inputs[0]:
        for label in range(OUTPUTS):
            loss = MeanLoss(solution.net, image[None, None], torch.tensor([[label]]))
            value, score = value_and_gradient(loss, w)
            expected += torch.exp(-value) * (vectors @ score).unsqueeze(1) * score / 9
    fisher = FreeFisher(Predictions(solution.net, solution.inputs[0]), w)
    # torch's own derivative of hardsigmoid has a factor in float32.
    tolerance = 1e-6 if request.node.callspec.id == "hardsigmoid" else 1e-9
    torch.testing.assert_close(
        fisher.product(vectors), expected, rtol=tolerance, atol=1e-3 * tolerance
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hessian", {"top": 3, "probes": 2}),
        ("fisher_rao", {}),
        ("spectral_density", {"top": 3, "steps": 5, "probes": 2}),
        ("contrastive_flatness", {"layer": "fc", "box": 1e-3, "batch": 4, "minibatches": 2}),
    ],
)
def test_measures_of_second_derivatives_are_taken(solution, name, options, monkeypatch):
    monkeypatch.setattr(contrastive_flatness, "PROBES", 2)
    for table in take(name, solution, **options).values():
        assert table.notna().all(axis=None) and len(table)
