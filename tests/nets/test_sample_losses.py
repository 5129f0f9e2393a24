"""Cross-entropy of each sample, by its formula, and the label that a net gives."""

from math import exp, log

import pytest
import torch

from flatlas.nets.loss import predictions, sample_losses

LOGITS = torch.tensor(
    [[[0.3, -1.2, 2.0], [0.0, 0.0, 0.0]], [[5.0, 1.0, -1.0], [-2.0, 0.5, 0.4]]],
    dtype=torch.float64,
)


def test_the_loss_is_minus_the_log_of_the_softmax():
    labels = torch.tensor([[2, 0], [1, 0]])
    expected = [
        [-log(exp(one[label]) / sum(map(exp, one))) for one, label in zip(*member, strict=True)]
        for member in zip(LOGITS.tolist(), labels.tolist(), strict=True)
    ]
    found = sample_losses(LOGITS, labels)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))
    assert predictions(LOGITS)[:, 0].tolist() == [2, 0]


def test_one_output_is_a_binary_task_as_two_with_the_other_at_zero():
    logits = torch.tensor([[[0.7], [-1.5]], [[0.0], [3.0]]], dtype=torch.float64)
    labels = torch.tensor([[1, 1], [0, 0]])
    expected = [[log(1 + exp(-0.7)), log(1 + exp(1.5))], [log(2), log(1 + exp(3.0))]]
    found = sample_losses(logits, labels)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))
    both = torch.cat([torch.zeros_like(logits), logits], -1)
    torch.testing.assert_close(found, sample_losses(both, labels))
    assert predictions(logits).tolist() == predictions(both).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(("logits", "loss"), [([-1000.0, 1000.0], 2000.0), ([1000.0], 1000.0)])
def test_extreme_logits_do_not_overflow(logits, loss):
    stack = torch.tensor([[logits]])
    assert sample_losses(stack, torch.tensor([[1]])).item() == 0
    assert sample_losses(stack, torch.tensor([[0]])).item() == loss
