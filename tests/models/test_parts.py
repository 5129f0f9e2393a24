"""Batches one by one: their mean is the loss, whatever divides its sum."""

import pytest
import torch
from seven_models import WEIGHTED, objective_of, seven

from flatlas.models.parts import Parts


@pytest.mark.parametrize("loss", WEIGHTED.values(), ids=WEIGHTED)
def test_the_mean_over_parts_is_the_loss(loss):
    model, data, _, _ = seven()["MLP with dropout"]
    whole = objective_of(model, data, loss)
    parts = Parts(whole)
    assert parts.examples == [4, 4, 2]
    of_parts = [part.value_and_gradient(whole.w) for part in parts]
    value, gradient = whole.value_and_gradient(whole.w)
    mean = [torch.stack(one).mean(0) for one in zip(*of_parts, strict=True)]
    torch.testing.assert_close(mean, [value, gradient], rtol=1e-12, atol=1e-14)
    assert len({part[0].item() for part in of_parts}) == 3
