"""The loss of a model's outputs, as a sum over a batch and the number that it is divided by."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from inspect import signature
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from flatlas.errors import FlatlasError, nearest
from flatlas.models.copies import copied
from flatlas.models.tensors import cloned, described, exact, reals, tensors_in

Outputs = Any
LossFunction = Callable[[Outputs, Any], Tensor]
# Outputs, their target, and the number of examples.
Made = tuple[Outputs, Any, int]
BY_NAME: dict[str, type[nn.Module]] = {
    "cross_entropy": nn.CrossEntropyLoss,
    "bce": nn.BCEWithLogitsLoss,
    "mse": nn.MSELoss,
}
# Functions of torch, and the modules that compute the same loss.
BY_FUNCTION: list[tuple[Any, type[nn.Module]]] = [
    (functional.cross_entropy, nn.CrossEntropyLoss),
    (functional.nll_loss, nn.NLLLoss),
    (functional.binary_cross_entropy_with_logits, nn.BCEWithLogitsLoss),
    (functional.binary_cross_entropy, nn.BCELoss),
    (functional.mse_loss, nn.MSELoss),
    (functional.l1_loss, nn.L1Loss),
    (functional.smooth_l1_loss, nn.SmoothL1Loss),
    (functional.huber_loss, nn.HuberLoss),
    (functional.kl_div, nn.KLDivLoss),
    (functional.poisson_nll_loss, nn.PoissonNLLLoss),
    (functional.multi_margin_loss, nn.MultiMarginLoss),
    (functional.multilabel_margin_loss, nn.MultiLabelMarginLoss),
    (functional.multilabel_soft_margin_loss, nn.MultiLabelSoftMarginLoss),
    (functional.soft_margin_loss, nn.SoftMarginLoss),
    (functional.hinge_embedding_loss, nn.HingeEmbeddingLoss),
]
# Losses of class labels, whose mean weights each label and which ignore an index.
OF_CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss)
# Losses whose target need not have the shape of the output.
OF_LABELS = (*OF_CLASSES, nn.MultiMarginLoss, nn.MultiLabelMarginLoss)
# Parts of a batch add up to the whole to this relative accuracy, also in float32.
SAME = 1e-4


class Loss:
    """A loss as its sum over a batch, and the batch's share of the divisor of the mean.

    The mean over the data then does not depend on how they are cut into batches. torch's own means
    over batches do, when labels have weights or the last batch is smaller. For a loss that is a sum
    the shares are 0, and the divisor is 1.
    """

    def __init__(
        self, loss: str | nn.Module | LossFunction, shared: Collection[Tensor] = ()
    ) -> None:
        """A name, a loss of torch.nn, or a function of output and target: a mean over examples.

        A user's function or module whose `reduction` is "sum" is a sum. A module is copied, except
        for `shared` tensors.
        """
        if isinstance(loss, str):
            if loss not in BY_NAME:
                allowed = ", ".join(BY_NAME)
                raise FlatlasError(
                    f"loss is '{loss}'. Allowed: {allowed}, a loss of torch.nn, or a function of "
                    f"output and target.{nearest(loss, BY_NAME)}"
                )
            loss = BY_NAME[loss]()
        if not callable(loss) or isinstance(loss, type):
            given = f"the class {loss.__name__}" if isinstance(loss, type) else described(loss)
            raise FlatlasError(
                f"loss is {given}. Allowed: {', '.join(BY_NAME)}, a loss of torch.nn, as in "
                "nn.CrossEntropyLoss(), or a function of output and target."
            )
        loss = _as_module(loss)
        # A class that inherits from torch's, but has its own forward, is a user's loss.
        kinds = (one for one in type(loss).__mro__ if "forward" in vars(one))
        self._kind: type = next(kinds, type(loss))
        self._reduction = _reduction(loss)
        if self.is_of_torch and self._reduction == "none":
            raise FlatlasError(
                f"loss is {type(loss).__name__} with reduction 'none'. Allowed: 'mean' or 'sum'."
            )
        if self.is_of_torch:
            _refuse_more_arguments(loss)
        self._normalizes = False
        self._loss: Any = loss
        if isinstance(loss, nn.Module):
            self._loss = copied(loss, "loss", shared).double().eval().requires_grad_(False)
        if self.is_of_classes:
            self._loss.reduction = "sum"

    def of_normalized_logits(self) -> "Loss":
        """The same loss of logits divided by their standard deviation for each example.

        Scaling all logits of a classifier then changes nothing (Andriushchenko et al. 2023).
        """
        if self.is_of_torch and self._kind is not nn.CrossEntropyLoss:
            raise FlatlasError(
                f"logits can't be normalized for {type(self._loss).__name__}. Allowed: "
                "cross-entropy, or a function of output and target."
            )
        other = copy(self)
        other._normalizes = True
        return other

    def of(self, outputs: Outputs, target: Any, examples: int) -> tuple[Tensor, float]:
        """The sum over the batch in float64, and its share of the divisor."""
        if self._normalizes:
            outputs = self._normalized(outputs, target)
        if self.is_of_torch and not isinstance(outputs, Tensor):
            place = next(iter(outputs), 0) if isinstance(outputs, Mapping) else 0
            raise FlatlasError(
                f"the model's output is {described(outputs)}. Allowed for this loss: a tensor. "
                "Give a function that takes it out, as in lambda output, target: "
                f"loss(output[{place!r}], target)."
            )
        if isinstance(outputs, Tensor) and isinstance(target, Tensor):
            outputs, target = self._comparable(outputs, target)
            self.refuse_unknown(outputs, target)
        value = self._value(outputs, target)
        if self.is_sum:
            return value, 0.0
        if self.is_of_classes:
            return value, self._divisor(target)
        of_numbers = self.is_of_torch and self._reduction == "mean"
        elementwise = of_numbers and outputs.shape == target.shape
        share = float(outputs.numel() if elementwise else examples)
        return value * share, share

    def _value(self, outputs: Outputs, target: Any) -> Tensor:
        """What the loss itself returns for a batch, in float64."""
        made = reals(tensors_in(outputs))
        if made and isinstance(self._loss, nn.Module):
            # The loss's own tensors go to the device of the outputs, in their precision.
            self._loss.to(made[0].device, made[0].dtype)
        if not self.is_of_torch:
            # A user's loss may change the target in place.
            target = cloned(target)
        try:
            value = self._loss(outputs, target)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            raise FlatlasError(
                f"the loss can't compare the model's output, {described(outputs)}, with its "
                f"target, {described(target)}: {error}{self._hint(str(error))}"
            ) from error
        if not isinstance(value, Tensor) or value.numel() != 1 or value.is_complex():
            raise FlatlasError(
                f"the loss returns {described(value)}. Allowed: a tensor of one real number, the "
                "mean over a batch's examples."
            )
        return exact(value).reshape(())

    def _hint(self, error: str) -> str:
        """What to do if a user's own loss has tensors of another dtype."""
        if self.is_of_torch or ("dtype" not in error and "scalar type" not in error):
            return ""
        return (
            " (outputs have the dtype of the measure: let the loss cast its own tensors, as in "
            "weight.to(output.dtype), or give a module, whose tensors are cast)"
        )

    def logits(self, outputs: Outputs, target: Any) -> Tensor:
        """Logits of the predictions that count: (predictions, classes), or (predictions, 1).

        The loss must be minus the log-likelihood of a softmax or of a sigmoid.
        """
        of_classes = self._kind is nn.CrossEntropyLoss
        plain = getattr(self._loss, "weight", None) is None
        plain &= getattr(self._loss, "pos_weight", None) is None
        if not plain or not (of_classes or self.is_binary) or not isinstance(outputs, Tensor):
            raise FlatlasError(
                "a ball of KL divergence needs predicted probabilities and a loss that is minus "
                "the logarithm of the label's. Allowed: cross_entropy or bce, without weights."
            )
        logits = exact(outputs)
        if self.is_binary:
            return logits.reshape(-1, 1)
        logits = logits.movedim(1, -1).flatten(end_dim=-2)
        if target.is_floating_point():
            return logits
        return logits[self.is_class(target).flatten().to(logits.device)]

    def _comparable(self, outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Both in the form that torch's losses take; in float64, except for labels."""
        if not self.is_of_torch or not outputs.is_floating_point():
            return outputs, target
        of_labels = self._kind in OF_LABELS
        if not of_labels and outputs.shape != target.shape:
            raise FlatlasError(
                f"the model's output is {described(outputs)}, but its target "
                f"{described(target)}. Allowed for this loss: the same shape."
            )
        outputs = exact(outputs)
        is_number = target.is_floating_point() or not of_labels
        return outputs, exact(target) if is_number else target.to(outputs.device)

    def refuse_unknown(self, outputs: Tensor, target: Tensor) -> None:
        """Raise an error for labels without an output: they would stop a GPU from computing."""
        if self.is_binary and target.numel() and not (target.min() >= 0 and target.max() <= 1):
            raise FlatlasError(
                f"the target has numbers from {target.min():g} to {target.max():g}, but this loss "
                "takes shares of the class 1. Allowed: 0 to 1."
            )
        if self.is_of_classes and target.is_floating_point() and target.ndim < 2:
            raise FlatlasError(
                f"the target is {described(target)}. Allowed for this loss: labels as integers, or "
                "a row of shares of all classes for each example. Give loss='bce' for one output "
                "and labels of 0 and 1, and loss='mse' for a regression."
            )
        if not self.is_of_classes or target.is_floating_point() or outputs.ndim < 2:
            return
        labels = self._counted(target)
        classes = outputs.shape[1]
        if ((labels < 0) | (labels >= classes)).any():
            where = f", in the second dimension of {tuple(outputs.shape)}"
            raise FlatlasError(
                f"the target has labels from {labels.min()} to {labels.max()}, but the model has "
                f"{classes} outputs{where if outputs.ndim > 2 else ''}. Allowed: 0 to "
                f"{classes - 1}."
            )

    def adds_up(self, whole: Made, parts: Iterable[Made]) -> bool:
        """Whether the losses of a batch's parts add up to that of the batch.

        They do for a mean or a sum over examples. True if they can't be computed.
        """
        try:
            each = torch.stack([self.of(*part)[0] for part in parts])
        except FlatlasError:
            return True
        return bool((each.sum() - self.of(*whole)[0]).abs() <= SAME * each.abs().sum())

    @property
    def is_of_torch(self) -> bool:
        """Whether it is one of torch's own losses, whose divisor is known."""
        return self._kind.__module__ == nn.CrossEntropyLoss.__module__

    @property
    def is_sum(self) -> bool:
        """Whether it is the sum over all data instead of a mean."""
        return self._reduction == "sum"

    @property
    def is_of_classes(self) -> bool:
        """Whether it is torch's loss of labels, with a second dimension for classes."""
        return self._kind in OF_CLASSES

    @property
    def is_binary(self) -> bool:
        """Whether the sign of an output decides between labels 0 and 1."""
        return self._kind is nn.BCEWithLogitsLoss

    def dimension_of_classes(self, outputs: Tensor, target: Any) -> int | None:
        """The dimension of logits that has the classes; None if labels leave that unclear.

        Torch's losses have them second. A user's own loss may have them last: the shape of the
        labels decides.
        """
        is_clear = outputs.ndim < 3 or self.is_of_classes
        if is_clear or not isinstance(target, Tensor) or target.is_floating_point():
            return 1
        labels, shape = _without_ones(target.shape), outputs.shape
        second = labels == _without_ones(shape[:1] + shape[2:])
        last = labels == _without_ones(shape[:-1])
        if second == last:
            return None
        return 1 if second else outputs.ndim - 1

    def _normalized(self, outputs: Outputs, target: Any) -> Tensor:
        """Logits over their standard deviation, over the classes of each prediction."""
        if not isinstance(outputs, Tensor) or outputs.ndim < 2:
            raise _without_rows(outputs)
        dimension = self.dimension_of_classes(outputs, target)
        if dimension is None:
            raise FlatlasError(
                f"logits can't be normalized: the target, {described(target)}, does not show which "
                f"dimension of the output, {described(outputs)}, has the classes. Allowed: torch's "
                "cross-entropy, which has them second, or a label for each prediction."
            )
        if outputs.shape[dimension] < 2:
            raise _without_rows(outputs)
        return outputs / outputs.std(dimension, correction=0, keepdim=True)

    def is_class(self, labels: Tensor) -> Tensor:
        """Where integers are labels of classes that the loss does not ignore."""
        return ~self.ignores(labels) & (labels.long() >= 0)

    def ignores(self, labels: Tensor) -> Tensor:
        """Where the loss ignores integer labels; a user's own loss ignores torch's −100."""
        if self.is_of_torch and not self.is_of_classes:
            return torch.zeros_like(labels, dtype=torch.bool)
        ignored = getattr(self._loss, "ignore_index", nn.CrossEntropyLoss().ignore_index)
        return labels.long() == ignored

    def counts(self, target: Any) -> bool:
        """Whether any example counts: not if all labels are ignored, or have the weight 0."""
        known = self.is_of_classes and isinstance(target, Tensor)
        return not known or self._divisor(target) != 0

    def _divisor(self, target: Tensor) -> float:
        """The divisor of torch's mean for a loss of class labels."""
        if target.is_floating_point():
            return target.numel() / target.shape[1]
        counted, weight = self._counted(target), self._loss.weight
        return float(len(counted) if weight is None else weight[counted].sum())

    def _counted(self, target: Tensor) -> Tensor:
        """The labels that are not ignored, in a type that compares and indexes as numbers do."""
        labels = target.long()
        return labels[labels != self._loss.ignore_index]


def _as_module(loss: Any) -> Any:
    """torch's module for its function, also for a partial with arguments given by name."""
    known = loss if isinstance(loss, partial) and not loss.args else partial(loss)
    for function, kind in BY_FUNCTION:
        # Some functions take weights of examples, which the loss of the same name does not.
        if known.func is function and {*known.keywords} <= {*signature(kind).parameters}:
            return kind(**known.keywords)
    return loss


def _refuse_more_arguments(loss: Any) -> None:
    """Raise an error if one of torch's losses does not take an output and a target alone."""
    takes = [
        name for name, one in signature(loss.forward).parameters.items() if one.default is one.empty
    ]
    if len(takes) > 2:
        others = count()
        given = (
            "target" if name in ("target", "targets") else f"output[{next(others)}]"
            for name in takes
        )
        raise FlatlasError(
            f"loss is {type(loss).__name__}, which takes {', '.join(takes)}. Allowed: a loss of "
            "output and target. Give a function of these two that calls it, as in lambda output, "
            f"target: loss({', '.join(given)})."
        )


def _reduction(loss: Any) -> Any:
    """The `reduction` of a loss, "mean" if it has none."""
    given = loss.keywords if isinstance(loss, partial) else {}
    return given.get("reduction", getattr(loss, "reduction", "mean"))


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [one for one in shape if one != 1]


def _without_rows(outputs: Outputs) -> FlatlasError:
    return FlatlasError(
        f"logits can't be normalized: the model's output is {described(outputs)}. Allowed: "
        "one row of at least two logits for each example."
    )
