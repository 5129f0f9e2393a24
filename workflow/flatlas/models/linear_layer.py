"""One nn.Linear of a model: its inputs, and how the loss depends on its outputs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from flatlas.errors import FlatlasError, nearest
from flatlas.models.batches import Batch
from flatlas.models.graph import refuse_constant_gradients
from flatlas.models.objective import Objective
from flatlas.models.second_order import again, gradient, twice_differentiable
from flatlas.models.tensors import described, exact


@dataclass(frozen=True)
class Passed:
    """Examples that passed the layer: its inputs (examples, n_in), outputs, and their losses."""

    activity: Tensor
    output: Tensor
    losses: Tensor


class LinearLayer:
    """The nn.Linear `name` of a model, if each example passes it once, as one vector."""

    def __init__(self, objective: Objective, name: str) -> None:
        """Refuses a layer whose weight is shared or computed."""
        # A weight that a parametrization computes is not among `_parameters`.
        linear = {
            one: part
            for one, part in objective.model.named_modules()
            if isinstance(part, nn.Linear) and "weight" in part._parameters
        }
        if name not in linear:
            raise FlatlasError(
                f"layer is '{name}'. Allowed: an nn.Linear of the model, "
                f"{', '.join(linear) or 'of which it has none'}.{nearest(name, linear)}"
            )
        self.name, self._of, self._linear = name, objective, linear[name]
        self._parts = objective.parts(objective.w)
        self._differentiates_twice = False
        named = objective.model.named_parameters(remove_duplicate=False)
        if sum(one is self._linear.weight for _, one in named) > 1:
            raise FlatlasError(
                f"layer '{name}' shares its weight with another one, so its weight has no "
                "gradient of its own. Allowed: a layer with its own weight."
            )

    @property
    def weight(self) -> Tensor:
        """W (n_in, n_out), as in z = a W, in float64."""
        return exact(self._linear.weight.detach()).T

    @torch.no_grad()
    def passed(self, batch: Batch) -> Passed:
        """The layer's inputs and outputs for a batch, and the losses."""
        with self._seen() as calls:
            outputs = self._of.outputs(self._parts, batch)
        self._refuse_other_calls(calls, batch)
        ((given, made),) = calls
        self._refuse_other_functions(given, made)
        rows = batch.examples
        losses = self._of.losses(outputs, batch)
        return Passed(exact(given.reshape(rows, -1)), exact(made.reshape(rows, -1)), losses)

    @torch.no_grad()
    def losses_with(self, batch: Batch, output: Tensor) -> Tensor:
        """The losses of a batch's examples if the layer gave this `output` (examples, n_out)."""
        with self._seen(output):
            outputs = self._of.outputs(self._parts, batch)
        return self._of.losses(outputs, batch)

    def curvature(self, batch: Batch, output: Tensor) -> tuple[Tensor, float]:
        """∂²l/∂z² of each example's loss l by the layer's output z: (examples, n_out, n_out).

        The second result is the batch's share of the divisor of the mean loss.
        """
        with twice_differentiable(self._of.model):
            z = output.clone().requires_grad_()
            with self._seen(z):
                outputs = self._of.outputs(self._parts, batch)
            total, share = self._of.loss.of(outputs, batch.target, batch.examples)
            # The first batch decides, as in the objective's check, which is of the whole model.
            if not self._differentiates_twice:
                refuse_constant_gradients([total], [z])
                self._differentiates_twice = True
            (slope,) = gradient(total, [z])
            if not slope.requires_grad:
                return z.new_zeros(*z.shape, z.shape[1]), share
            # An example's z has no effect on the loss of another, so their rows can be summed.
            ones = torch.eye(z.shape[1], dtype=z.dtype, device=z.device)
            rows = [again([slope], [z], [one.expand_as(z)])[0] for one in ones]
        return torch.stack(rows, dim=1), share

    @contextmanager
    def _seen(self, output: Tensor | None = None) -> Iterator[list[tuple[Tensor, Tensor]]]:
        """The layer's input and output at each call; an `output` replaces its own."""
        calls: list[tuple[Tensor, Tensor]] = []

        def hook(
            part: nn.Module, given: tuple[Any, ...], named: dict[str, Any], made: Tensor
        ) -> Tensor | None:
            tensors = [one for one in (*given, *named.values()) if isinstance(one, Tensor)]
            # Copies: what follows may work in place, as nn.ReLU(inplace=True).
            if output is not None:
                return output.to(made).view_as(made).clone()
            calls.append((tensors[0].clone(), made.clone()))
            return None

        handle = self._linear.register_forward_hook(hook, with_kwargs=True)
        try:
            yield calls
        finally:
            handle.remove()

    def _refuse_other_functions(self, given: Tensor, made: Tensor) -> None:
        """Raise an error for a subclass or a hook that changes what the layer computes."""
        expected = nn.functional.linear(given, self._linear.weight, self._linear.bias)
        # The model may compute in a coarser type, as with autocast: half of its digits are right.
        digits = max(torch.finfo(one.dtype).eps for one in (made, expected)) ** 0.5
        allowed = digits * expected.abs().max()
        if made.shape != expected.shape or (made - expected).abs().max() > allowed:
            raise FlatlasError(
                f"layer '{self.name}' does not compute a W + b: its class or a hook changes that. "
                "Allowed: a plain nn.Linear."
            )

    def _refuse_other_calls(self, calls: list[tuple[Tensor, Tensor]], batch: Batch) -> None:
        if len(calls) != 1:
            times = f"{len(calls)} times" if calls else "never, as in nn.MultiheadAttention"
            raise FlatlasError(
                f"layer '{self.name}' is called {times} in a pass through the model. Allowed: a "
                "layer that is called once."
            )
        given = calls[0][0]
        if given.numel() != batch.examples * self._linear.in_features:
            raise FlatlasError(
                f"layer '{self.name}' gets {described(given)} for {batch.examples} examples. "
                "Allowed: a layer that gets one vector for each example, not one for each token "
                "or place."
            )
