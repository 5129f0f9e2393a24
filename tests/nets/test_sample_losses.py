"""Cross-entropy of each sample, by its formula, and the label that a net gives."""

from math import exp, log

import pytest
import torch

from flatlas.nets.loss import predictions, sample_losses

LOGITS = torch.tensor(
    [[[0.3, -1.2, 2.0], [0.0, 0.0, 0.0]], [[5.0, 1.0, -1.0], [-2.0, 0.5, 0.4]]],
    dtype=torch.float64,
)
LABELS = torch.tensor([[2, 0], [1, 0]])


def test_the_loss_is_minus_the_log_of_the_softmax():
    losses = sample_losses(LOGITS, LABELS)
    assert losses.shape == (2, 2)
    for member in range(2):
        for image in range(2):
            powers = [exp(logit) for logit in LOGITS[member, image]]
            expected = -log(powers[LABELS[member, image]] / sum(powers))
            assert losses[member, image].item() == pytest.approx(expected, rel=1e-12)


def test_one_output_is_a_binary_task():
    logits = torch.tensor([[[0.7], [-1.5]], [[0.0], [3.0]]], dtype=torch.float64)
    losses = sample_losses(logits, torch.tensor([[1, 1], [0, 0]]))
    expected = [[log(1 + exp(-0.7)), log(1 + exp(1.5))], [log(2), log(1 + exp(3.0))]]
    torch.testing.assert_close(losses, torch.tensor(expected, dtype=torch.float64))


def test_one_output_equals_two_with_the_other_at_zero():
    logits = torch.tensor([[[0.7], [-1.5], [0.0]]], dtype=torch.float64)
    labels = torch.tensor([[1, 0, 1]])
    both = torch.cat([torch.zeros_like(logits), logits], -1)
    torch.testing.assert_close(sample_losses(logits, labels), sample_losses(both, labels))
    assert torch.equal(predictions(logits), predictions(both))


@pytest.mark.parametrize(("logits", "loss"), [([-1000.0, 1000.0], 2000.0), ([1000.0], 1000.0)])
def test_far_logits_overflow_nothing(logits, loss):
    stack = torch.tensor([[logits]])
    assert sample_losses(stack, torch.tensor([[1]])).item() == 0
    assert sample_losses(stack, torch.tensor([[0]])).item() == loss


def test_predictions_are_the_largest_logits():
    assert predictions(LOGITS)[:, 0].tolist() == [2, 0]
    assert predictions(torch.tensor([[[0.1], [-0.1]]])).tolist() == [[1, 0]]
