"""The mean loss of a model over all its data, as a function of some of its parameters."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from functools import partial
from itertools import islice

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils.stateless import _reparametrize_module

from flatlas.errors import FlatlasError
from flatlas.hessian.round_off import of_products
from flatlas.models.batches import Batch
from flatlas.models.chosen import Chosen, chosen_names
from flatlas.models.copies import copied
from flatlas.models.gauss_newton import GaussNewtonOfBatch
from flatlas.models.graph import least_precision, refuse_constant_gradients, unreached
from flatlas.models.losses import Loss, Outputs
from flatlas.models.prepared import prepared, unwrapped
from flatlas.models.second_order import again, gradient, slope, twice_differentiable
from flatlas.models.tensors import cloned, described, exact, flat, rows_of


class Objective:
    """L(w), ∇L and products with the Hessian and the Gauss-Newton matrix, batch by batch.

    w has the chosen parameters in one vector, in the order of the model. It is float64, even if the
    model computes in another precision. Other parameters keep their values. The model is a copy, in
    evaluation mode. `originals` are the chosen parameters of the model that was given.
    """

    def __init__(
        self,
        model: nn.Module,
        batches: Iterable[Batch],
        loss: Loss,
        chosen: Chosen = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        """Without a choice, w has all parameters that require a gradient."""
        model = unwrapped(model)
        names = chosen_names(model, chosen)
        self.originals = [model.get_parameter(name) for name in names]
        self._device, self.dtype = torch.device(device), dtype
        self.model = prepared(model, self._device, dtype)
        parameters = [self.model.get_parameter(name) for name in names]
        self.shapes: Mapping[str, torch.Size] = {
            name: one.shape for name, one in zip(names, parameters, strict=True)
        }
        self.w = exact(flat(parameters))
        self.batches, self.loss = batches, loss
        self._divisor: float | None = None
        self._differentiates_twice = False

    @property
    def size(self) -> int:
        """The number of weights in w."""
        return len(self.w)

    def on(self, batches: Iterable[Batch]) -> "Objective":
        """The loss of the same model on other data."""
        other = copy(self)
        other.batches = batches
        return other

    def on_first_batch(self) -> "Objective":
        """The loss on the first batch: enough to see whether something is defined."""
        return self.on([*islice(self.batches, 1)])

    def part(self, batch: Batch, divisor: float) -> "Objective":
        """The sum of the losses of one batch over a given divisor."""
        other = self.on([batch])
        other._divisor = divisor
        return other

    def of_normalized_logits(self) -> "Objective":
        """The loss of normalized logits: scaling all logits does not change it."""
        other = copy(self)
        other.loss = self.loss.of_normalized_logits()
        return other

    def of_copy(self) -> "Objective":
        """The loss of a copy of the model, which has its own state.

        It has the same parameters and the same statistics of batch norm, also if these are
        recomputed later.
        """
        other = copy(self)
        norms = (part for part in self.model.modules() if isinstance(part, _BatchNorm))
        statistics = (buffer for norm in norms for buffer in norm.buffers())
        other.model = copied(self.model, "model", [*self.model.parameters(), *statistics])
        return other

    def of_model(self, model: nn.Module) -> "Objective":
        """The loss of a copy of the model with other weights, on the same data."""
        other = copy(self)
        other.model = model
        other.w = exact(flat(map(model.get_parameter, self.shapes)))
        return other

    def of_parameter(self, name: str) -> "Objective":
        """The loss as a function of one parameter alone, whether w has it or not."""
        other, parameter = copy(self), self.model.get_parameter(name)
        other.shapes = {name: parameter.shape}
        other.w = exact(flat([parameter]))
        return other

    def parts(self, w: Tensor) -> dict[str, Tensor]:
        """The parameters in w, by name: copies, which the model may change."""
        return {
            name: piece.clone() for name, piece in zip(self.shapes, self._pieces(w), strict=True)
        }

    def _pieces(self, vector: Tensor) -> list[Tensor]:
        """A part of a vector for each parameter, in the precision of the model."""
        shapes = self.shapes.values()
        pieces = vector.to(self._device, self.dtype).split([shape.numel() for shape in shapes])
        return [piece.view(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    @contextmanager
    def leaves(self, w: Tensor) -> Iterator[dict[str, Tensor]]:
        """The parameters in w, by name, as leaves that the model uses inside the context.

        Take derivatives inside it, too: they compute activations behind a checkpoint again.
        """
        leaves = {name: part.requires_grad_() for name, part in self.parts(w).items()}
        with (
            twice_differentiable(self.model),
            self._with(leaves),
        ):
            yield leaves

    def _with(self, parts: dict[str, Tensor]) -> AbstractContextManager[None]:
        """Let these stand in for the model's parameters of their names.

        A layer with two names gets its part twice. Only the reverse order, `stack_weights`, puts
        its parameter back.
        """
        return _reparametrize_module(self.model, parts, tie_weights=True, stack_weights=True)

    def outputs(self, parts: dict[str, Tensor], batch: Batch) -> Outputs:
        """The model's output for a batch: a tensor, or whatever its own loss takes."""
        # A model may change its inputs in place.
        given, named = cloned((batch.arguments, batch.named))
        try:
            with self._with(parts):
                made = self.model(*given, **named)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            by_name = (f"{name}: {described(one)}" for name, one in batch.named.items())
            inputs = ", ".join([*map(described, batch.arguments), *by_name])
            hint = self._hint(str(error), batch)
            raise FlatlasError(
                f"the model can't take its inputs, {inputs}: {error}{hint}"
            ) from error
        return getattr(made, "logits", made)

    def _hint(self, error: str, batch: Batch) -> str:
        """What to do if the model needs gradients or another dtype."""
        if "does not require grad" in error:
            return (
                " (losses are also computed without gradients: where the model takes one itself, "
                "use torch.enable_grad())"
            )
        if "dtype" not in error and "scalar type" not in error:
            return ""
        hint = (
            f" (the copy that is measured has the dtype {self.dtype}: let the model cast only to "
            "that of its weights, and let each layer be an attribute of the module that uses it)"
        )
        if self.dtype != torch.float32:
            hint += " (or give dtype=torch.float32, if the model needs it)"
        if any(not (one.is_floating_point() or one.is_complex()) for one in batch.inputs):
            hint += " (integers stay so: give inputs.float() if the model needs numbers)"
        return hint

    def of_batch(self, parts: dict[str, Tensor], batch: Batch) -> tuple[Tensor, float]:
        """The sum of a batch's losses, and its share of the divisor."""
        return self.loss.of(self.outputs(parts, batch), batch.target, batch.examples)

    def round_off(self) -> float:
        """The round-off of products with second derivatives, relative to the largest eigenvalue.

        A model may compute a part, such as a norm, in a precision below that of its weights.
        """
        return of_products(self.precision())

    def precision(self) -> float:
        """The eps of the least precise numbers with which the loss of the first batch is made."""
        batch = next(iter(self.batches))
        with self.leaves(self.w):
            return least_precision([self.of_batch({}, batch)[0]])

    def losses(self, outputs: Outputs, batch: Batch) -> Tensor:
        """The loss of each example alone, from the outputs of its batch."""
        found = []
        for number in torch.arange(batch.examples).split(1):
            one, target = rows_of((outputs, batch.target), number, batch.examples)
            total, share = self.loss.of(one, target, 1)
            # The share of a sum, or of an example that does not count, is 0.
            found.append(total / (share or 1.0))
        return torch.stack(found)

    def counted(self) -> Iterator[Batch]:
        """The batches with at least one example that counts."""
        return (batch for batch in self.batches if self.loss.counts(batch.target))

    @torch.no_grad()
    def divisor(self) -> float:
        """The divisor of the sum of all losses, such as the number of examples."""
        parts = self.parts(self.w)
        return self._sum(self.of_batch(parts, batch) for batch in self.batches)[1]

    @torch.no_grad()
    def value(self, w: Tensor) -> Tensor:
        """L(w) in float64."""
        parts = self.parts(w)
        total, divisor = self._sum(self.of_batch(parts, batch) for batch in self.batches)
        return total / divisor

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """L and ∇L at w, both in float64."""
        found = torch.zeros_like(w)

        def add(leaves: list[Tensor], total: Tensor) -> None:
            found.add_(flat(slope(total, leaves)).to(found.device))

        value, divisor = self._sum(self._differentiated(w, add))
        # A search may overflow, but not at the model's own weights.
        if value.isfinite() and w.equal(self.w):
            _finite(found, "gradient")
        return value / divisor, found / divisor

    def hessian_product(self, vectors: Tensor) -> Tensor:
        """∇∇L v for each row v, in the dtype of v, by the gradient of ∇L·v.

        All rows share a batch's loss and gradient, which are half of the work for one row.
        """
        images = torch.zeros_like(vectors)
        rows = [self._pieces(vector) for vector in vectors]

        def add(leaves: list[Tensor], total: Tensor) -> None:
            self._refuse_constant_gradients(([total], leaves))
            parts = gradient(total, leaves)
            which = [number for number, part in enumerate(parts) if part.requires_grad]
            varies = [parts[number] for number in which]
            for row, image in zip(rows, images, strict=True) if varies else ():
                # The last row need not keep the graph: its parts are freed on the way.
                along, last = [row[number] for number in which], row is rows[-1]
                found = again(varies, leaves, along, keep=not last)
                image.add_(flat(found).to(image.device))

        _, divisor = self._sum(self._differentiated(self.w, add))
        return _finite(images / divisor, "Hessian")

    def gauss_newton_product(self, vectors: Tensor) -> Tensor:
        """Jᵀ (∂²ℓ/∂z²) J v for each row v, with the outputs z: the part of ∇∇L without ∇∇z."""
        images = torch.zeros_like(vectors)

        def losses() -> Iterator[tuple[Tensor, float]]:
            for batch in self.batches:
                with self.leaves(self.w) as leaves:
                    loss = partial(self.loss.of, target=batch.target, examples=batch.examples)
                    part = GaussNewtonOfBatch(self.outputs({}, batch), loss, leaves)
                    self._refuse_constant_gradients(*part.graphs)
                    for image, vector in zip(images, vectors, strict=True):
                        image.add_(part.product(self._pieces(vector)).to(image.device))
                yield part.total, part.share

        return _finite(images / self._sum(losses())[1], "Gauss-Newton matrix")

    def _differentiated(
        self, w: Tensor, add: Callable[[list[Tensor], Tensor], None]
    ) -> Iterator[tuple[Tensor, float]]:
        """The loss of each batch, after a call of `add` with its leaves and its loss."""
        reached = False
        for batch in self.batches:
            with self.leaves(w) as leaves:
                total, share = self.of_batch({}, batch)
                if total.requires_grad:
                    reached = True
                    add(list(leaves.values()), total)
            # Yield outside the context: an interrupt would otherwise keep torch's settings changed.
            yield total.detach(), share
        if not reached:
            raise unreached(self.shapes)

    def _refuse_constant_gradients(self, *graphs: tuple[list[Tensor], list[Tensor]]) -> None:
        """Raise an error if a graph can't be differentiated twice; the first batch decides."""
        if not self._differentiates_twice:
            for ends, by in graphs:
                refuse_constant_gradients(ends, by)
            self._differentiates_twice = True

    def _sum(self, losses: Iterator[tuple[Tensor, float]]) -> tuple[Tensor, float]:
        """The sum of all batches, and its divisor, which is 1 for a loss that is a sum."""
        total, divisor = self.w.new_zeros(()), 0.0
        for value, share in losses:
            total, divisor = total + value.to(total), divisor + share
        return total, self._divisor or divisor or 1.0


def _finite(derivatives: Tensor, name: str) -> Tensor:
    """The derivatives; an error if any is not finite, which can be so where the loss is finite."""
    if not derivatives.isfinite().all():
        raise FlatlasError(
            f"the {name} has NaN or infinite entries at the model's weights, where the loss is "
            "finite: look for infinite numbers in the data, a function such as a root at 0, or an "
            "overflow in float32."
        )
    return derivatives
