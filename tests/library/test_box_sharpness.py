"""Sharpness in a box by minibatch ascent: against a plain loop."""

import numpy as np
import pytest
import torch
from torch import nn

import flatlas

RANDOM = torch.Generator().manual_seed(0)
X = torch.randn(12, 4, generator=RANDOM, dtype=torch.float64)
BATCHES = list(zip(X.split(4), (torch.arange(12) % 3).split(4), strict=True))


def test_minibatch_ascent_is_that_of_a_plain_loop():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    options = {"by": "sgd", "box": 0.05, "lr": 0.2, "epochs": 7}
    found = flatlas.measure(model, BATCHES, {"box_sharpness": options})["box_sharpness"]
    corner = flatlas.measure(model, BATCHES, {"box_sharpness": {"box": 0.05}})["box_sharpness"]

    def loss(data):
        return torch.stack([nn.functional.cross_entropy(model(x), y) for x, y in data]).mean()

    start = [p.detach().clone() for p in model.parameters()]
    curve = [loss(BATCHES).item()]
    for _ in range(7):
        for batch in BATCHES:
            slopes = torch.autograd.grad(loss([batch]), list(model.parameters()))
            with torch.no_grad():
                for p, w, g in zip(model.parameters(), start, slopes, strict=True):
                    side = 0.05 * (w.abs() + 1)
                    p.copy_((p + 0.2 * g).clamp(w - side, w + side))
        curve.append(loss(BATCHES).item())
    rise = np.max(curve) - curve[0]
    assert found.sharpness == pytest.approx(100 * rise / (1 + curve[0]), rel=1e-9)
    assert found.last == pytest.approx(100 * (curve[-1] - curve[0]) / (1 + curve[0]), rel=1e-9)
    assert 0 < found.sharpness <= corner.sharpness * (1 + 1e-9)


@pytest.mark.parametrize("shift", [-5.0, -1.0])
def test_a_loss_of_at_most_minus_one_has_no_share(shift):
    model = nn.Linear(4, 3, bias=False).double()
    nn.init.zeros_(model.weight)

    def loss(output, target):
        return (output**2).mean() + shift

    with pytest.raises(flatlas.FlatlasError, match="1 \\+ loss"):
        flatlas.measure(model, BATCHES, ["box_sharpness"], loss=loss)
