"""The mean loss of a model over all its data, as a function of some of its parameters."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, is_dataclass
from fnmatch import fnmatch
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.nn.parameter import is_lazy
from torch.nn.utils.stateless import _reparametrize_module
from torch.utils._pytree import tree_leaves, tree_map

from flatlas.errors import FlatlasError, named
from flatlas.hessian.attention import differentiable_attention
from flatlas.models.batches import Batch, cloned, described, exact, rows_of
from flatlas.models.copies import copied
from flatlas.models.graph import refuse_constant_gradients, roots
from flatlas.models.losses import Loss, Outputs
from flatlas.models.precision import differentiable_layers, in_precision, without_cudnn
from flatlas.models.quantized import quantized, refuse_rounding

# A pattern of parameters' names, several, or a function of name and parameter.
Chosen = str | Sequence[str] | Callable[[str, nn.Parameter], bool] | None


class Objective:
    """L(w), ∇L and products with the Hessian and the Gauss-Newton matrix, batch by batch.

    w has the chosen parameters in one vector, in the order of the model. It is float64, even if the
    model computes in another precision. Other parameters keep their values. The model is a copy, in
    evaluation mode.
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
        if any(isinstance(part, torch.jit.ScriptModule) for part in model.modules()):
            raise FlatlasError(
                "the model, or a part of it, is a ScriptModule, whose parameters stay as they are. "
                "Give it as it was before torch.jit.script or torch.jit.trace."
            )
        refuse_rounding(model)
        names = _chosen(model, chosen)
        given = dict(model.named_parameters())
        # The original parameters: nothing that is measured may depend on them, only on their
        # copies.
        self._given = [given[name] for name in names]
        self._device, self.dtype = torch.device(device), dtype
        self.model = copied(model, "model").eval().requires_grad_(False)
        _keep_eps(self.model)
        # A device without float64 can't even copy to float64 elsewhere, so tensors go to the CPU
        # first. A module's `to` would drop the imaginary part of complex numbers.
        self.model.cpu()._apply(lambda one: one.to(device, in_precision(one.dtype, dtype)))
        _keep_derivatives(self.model)
        parameters = dict(self.model.named_parameters())
        self.shapes: Mapping[str, torch.Size] = {name: parameters[name].shape for name in names}
        self.w = exact(torch.cat([parameters[name].flatten() for name in names]))
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

    def of_normalized_logits(self) -> "Objective":
        """The loss of normalized logits: scaling all logits does not change it."""
        other = copy(self)
        other.loss = self.loss.of_normalized_logits()
        return other

    def of_parameter(self, name: str) -> "Objective":
        """The loss as a function of one parameter alone, whether w has it or not."""
        other, parameter = copy(self), self.model.get_parameter(name)
        other.shapes = {name: parameter.shape}
        other.w = exact(parameter.flatten())
        return other

    def parts(self, w: Tensor) -> dict[str, Tensor]:
        """The parameters in w, by name: copies, which the model may change."""
        named = zip(self.shapes, self._pieces(w), strict=True)
        return {name: piece.clone() for name, piece in named}

    def _pieces(self, vector: Tensor) -> list[Tensor]:
        """A part of a vector for each parameter, in the precision of the model."""
        sizes = [shape.numel() for shape in self.shapes.values()]
        pieces = vector.to(self._device, self.dtype).split(sizes)
        return [
            piece.view(shape) for shape, piece in zip(self.shapes.values(), pieces, strict=True)
        ]

    def outputs(self, parts: dict[str, Tensor], batch: Batch) -> Outputs:
        """The model's output for a batch: a tensor, or whatever its own loss takes."""
        # A model may change its inputs in place.
        given, named = cloned((batch.arguments, dict(batch.named)))
        try:
            made = functional_call(self.model, parts, given, named)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            by_name = (f"{name}: {described(one)}" for name, one in batch.named.items())
            inputs = [*map(described, batch.arguments), *by_name]
            other = "dtype" in str(error) or "scalar type" in str(error)
            narrow = torch.float32 != self.dtype and other
            hint = (
                " (a copy that computes in float64 is measured: give dtype=torch.float32 if the "
                "model needs it; each layer must be an attribute of the module that uses it)"
                if narrow
                else ""
            )
            if other and any(map(_is_whole, tree_leaves((given, named)))):
                hint += " (integers stay so: give inputs.float() if the model needs numbers)"
            raise FlatlasError(
                f"the model can't take its inputs, {', '.join(inputs)}: {error}{hint}"
            ) from error
        return getattr(made, "logits", made)

    def losses(self, outputs: Outputs, batch: Batch) -> Tensor:
        """The loss of each example alone, from the outputs of its batch."""
        found = []
        for number in torch.arange(batch.examples).split(1):
            one, target = rows_of((outputs, batch.target), number, batch.examples)
            total, share = self.loss.of(one, target, 1)
            # The share of a sum, or of an example that does not count, is 0.
            found.append(total / (share or 1.0))
        return torch.stack(found)

    @torch.no_grad()
    def refuse_without_loss(self) -> None:
        """Raise an error if the loss at w is not finite, or if no example counts."""
        parts, divisor = self.parts(self.w), 0.0
        for number, batch in enumerate(self.batches):
            try:
                value, share = self._loss_of(parts, batch)
            except FlatlasError as error:
                raise FlatlasError(f"batch {number}: {error}") from error
            if not value.isfinite():
                infinite = " The batch has infinite numbers: leave them out."
                hint = infinite if batch.has_infinite else ""
                raise FlatlasError(
                    f"batch {number}: the loss is {value.item()} at the model's weights.{hint}"
                )
            if not number:
                self._refuse_other_dependences(parts, batch, value)
            divisor += share
        if not divisor and not self.loss.is_sum:
            raise FlatlasError("the loss ignores the labels of all examples.")

    def _refuse_other_dependences(
        self, parts: dict[str, Tensor], batch: Batch, value: Tensor
    ) -> None:
        """Raise an error if the loss of a batch depends on more than w and the batch."""
        self._refuse_other_parameters(parts, batch)
        # Without gradients, to use the same kernels as for the first value.
        outputs = tree_map(
            lambda leaf: leaf.detach() if isinstance(leaf, Tensor) else leaf,
            self.outputs(parts, batch),
        )
        with torch.enable_grad(), _differentiated_by(self._given):
            second, _ = self.loss.of(outputs, batch.target, batch.examples)
            if _reaches(self._given, [second]):
                raise _penalized()
        if not (second - value).abs() <= torch.finfo(self.dtype).eps ** 0.5 * value.abs():
            raise FlatlasError(
                f"the loss of a batch is {value.item():.6g}, and {second.item():.6g} when it is "
                "computed again: in evaluation mode the model or the loss draws random numbers, or "
                "changes with each call. Give such numbers as inputs, and dropout its mode: "
                "F.dropout(x, training=self.training)."
            )

    def _refuse_other_parameters(self, parts: dict[str, Tensor], batch: Batch) -> None:
        """Raise an error if the model computes with parameters that do not change with w."""
        # In a pass, `parts` stand in for these.
        replaced = {name: self.model.get_parameter(name) for name in self.shapes}
        originals = [*self._given, *replaced.values()]
        with twice_differentiable(self.model), _differentiated_by(originals):
            outputs = self.outputs(parts, batch)
            if _reaches(self._given, _leaves(outputs)):
                raise FlatlasError(
                    "the model computes its output with parameters that a copy of it does not "
                    "have, such as those of a layer that a lambda, a hook or a method under "
                    "torch.compile refers to: measures are taken of a copy. Let each layer be an "
                    "attribute of the module that uses it."
                )
            total, _ = self.loss.of(outputs, batch.target, batch.examples)
            reached = roots([total]) if _varies(total) else set()
        kept = [name for name, parameter in replaced.items() if id(parameter) in reached]
        if kept:
            raise FlatlasError(
                f"the model also uses '{kept[0]}' through a list, a functools.partial or the like. "
                "Measures change the parameter of that name, but not this second reference. Let "
                "the model use the parameter by its name, as in self.layer.weight."
            )

    def unused(self) -> list[str]:
        """The names of the parameters in w on which the loss of no batch depends."""
        left = [*self.shapes]
        for batch in self.batches:
            with self.leaves(self.w) as leaves:
                total, _ = self._loss_of({}, batch)
                reached = roots([total])
                left = [name for name in left if id(leaves[name]) not in reached]
            if not left:
                break
        return left

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
        other, parameters = copy(self), dict(model.named_parameters())
        other.model = model
        other.w = exact(torch.cat([parameters[name].flatten() for name in self.shapes]))
        return other

    @torch.no_grad()
    def value(self, w: Tensor) -> Tensor:
        """L(w) in float64."""
        parts = self.parts(w)
        total, divisor = self._sum(self._loss_of(parts, batch) for batch in self.batches)
        return total / divisor

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """L and ∇L at w, both in float64."""
        slope = torch.zeros_like(w)

        def add(leaves: list[Tensor], total: Tensor) -> None:
            gradients = torch.autograd.grad(total, leaves, materialize_grads=True)
            slope.add_(_flat(gradients).to(slope.device))

        value, divisor = self._sum(self._differentiated(w, add))
        # A search may overflow, but not at the model's own weights.
        if value.isfinite() and w.equal(self.w):
            _finite(slope, "gradient")
        return value / divisor, slope / divisor

    def hessian_product(self, vectors: Tensor) -> Tensor:
        """∇∇L v for each row v, in the dtype of v, by the gradient of ∇L·v.

        All rows share a batch's loss and gradient, which are half of the work for one row.
        """
        images = torch.zeros_like(vectors)
        rows = [self._pieces(vector) for vector in vectors]

        def add(leaves: list[Tensor], total: Tensor) -> None:
            self.refuse_constant_gradients(([total], leaves))
            slope = _gradient(total, leaves)
            varies = [part for part in slope if _varies(part)]
            which = [number for number, part in enumerate(slope) if _varies(part)]
            for row, image in zip(rows, images, strict=True) if varies else ():
                # The last row need not keep the graph: its parts are freed on the way.
                along, last = [row[number] for number in which], row is rows[-1]
                found = again(varies, leaves, along, keep=not last)
                image.add_(_flat(found).to(image.device))

        _, divisor = self._sum(self._differentiated(self.w, add))
        return _finite(images / divisor, "Hessian")

    def refuse_constant_gradients(self, *graphs: tuple[list[Tensor], list[Tensor]]) -> None:
        """Raise an error if a graph can't be differentiated twice; the first batch decides."""
        if not self._differentiates_twice:
            for ends, by in graphs:
                refuse_constant_gradients(ends, by)
            self._differentiates_twice = True

    def gauss_newton_product(self, vectors: Tensor) -> Tensor:
        """Jᵀ (∂²ℓ/∂z²) J v for each row v, with the outputs z: the part of ∇∇L without ∇∇z."""
        images = torch.zeros_like(vectors)

        def losses() -> Iterator[tuple[Tensor, float]]:
            for batch in self.batches:
                with self.leaves(self.w) as leaves:
                    part = _Part(self, list(leaves.values()), batch)
                    for image, vector in zip(images, vectors, strict=True):
                        image.add_(part.product(vector).to(image.device))
                yield part.total, part.share

        return _finite(images / self._sum(losses())[1], "Gauss-Newton matrix")

    @torch.no_grad()
    def divisor(self) -> float:
        """The divisor of the sum of all losses, such as the number of examples."""
        parts = self.parts(self.w)
        return self._sum(self._loss_of(parts, batch) for batch in self.batches)[1]

    def counted(self) -> Iterator[Batch]:
        """The batches of which any example counts."""
        return (batch for batch in self.batches if self.loss.counts(batch.target))

    def part(self, batch: Batch, divisor: float) -> "Objective":
        """The sum of the losses of one batch over a given divisor."""
        other = self.on([batch])
        other._divisor = divisor
        return other

    def _differentiated(
        self, w: Tensor, add: Callable[[list[Tensor], Tensor], None]
    ) -> Iterator[tuple[Tensor, float]]:
        """The loss of each batch, after a call of `add` with its leaves and its loss."""
        reached = False
        for batch in self.batches:
            with self.leaves(w) as leaves:
                total, share = self._loss_of({}, batch)
                if total.requires_grad:
                    reached = True
                    add(list(leaves.values()), total)
            # Yield outside the context: an interrupt would otherwise keep torch's settings changed.
            yield total.detach(), share
        if not reached:
            raise _unreached(self.shapes)

    @contextmanager
    def leaves(self, w: Tensor) -> Iterator[dict[str, Tensor]]:
        """The parameters in w, by name, as leaves that the model uses inside the context.

        Take derivatives inside it, too: they compute activations behind a checkpoint again.
        """
        leaves = {name: part.requires_grad_() for name, part in self.parts(w).items()}
        with (
            twice_differentiable(self.model),
            _reparametrize_module(self.model, leaves, tie_weights=True),
        ):
            yield leaves

    def _loss_of(self, parts: dict[str, Tensor], batch: Batch) -> tuple[Tensor, float]:
        return self.loss.of(self.outputs(parts, batch), batch.target, batch.examples)

    def _sum(self, losses: Iterator[tuple[Tensor, float]]) -> tuple[Tensor, float]:
        """The sum of all batches, and its divisor, which is 1 for a loss that is a sum."""
        total, divisor = self.w.new_zeros(()), 0.0
        for value, share in losses:
            total, divisor = total + value.to(total), divisor + share
        return total, self._divisor or divisor or 1.0


class _Part:
    """The Gauss-Newton matrix of one batch."""

    def __init__(self, objective: Objective, leaves: list[Tensor], batch: Batch) -> None:
        made = objective.outputs({}, batch)
        self._leaves = leaves
        self._z = [leaf for leaf in tree_leaves(made) if _varies(leaf)]
        self._free = [leaf.detach().requires_grad_() for leaf in self._z]
        copies = dict(zip(map(id, self._z), self._free, strict=True))
        outputs = tree_map(lambda leaf: copies.get(id(leaf), leaf), made)
        total, self.share = objective.loss.of(outputs, batch.target, batch.examples)
        if _reaches(leaves, [total]):
            raise FlatlasError(
                f"the Gauss-Newton matrix can't be computed for the output, {described(made)}. "
                "Allowed: tensors, alone or in tuples, lists and dictionaries."
            )
        if not self._z:
            raise _unreached(objective.shapes)
        objective.refuse_constant_gradients((self._z, leaves), ([total], self._free))
        self.total = total.detach()
        self._slope = _gradient(total, self._free)
        # Jᵀu is linear in u, whose value does not matter: its derivative along v is J v.
        self._u = [torch.zeros_like(leaf, requires_grad=True) for leaf in self._z]
        pulled = torch.autograd.grad(
            self._z, self._leaves, self._u, create_graph=True, materialize_grads=True
        )
        self._pulled = _flat(pulled)

    def product(self, vector: Tensor) -> Tensor:
        """Jᵀ (∂²ℓ/∂z²) J v."""
        pushed = again([self._pulled], self._u, [vector.to(self._pulled)])
        pairs = [pair for pair in zip(self._slope, pushed, strict=True) if _varies(pair[0])]
        if not pairs:
            return torch.zeros_like(self._pulled)
        slope, along = zip(*pairs, strict=True)
        return _flat(again(self._z, self._leaves, again(slope, self._free, along)))


def again(
    of: Sequence[Tensor], by: Sequence[Tensor], along: Sequence[Tensor], keep: bool = True
) -> tuple[Tensor, ...]:
    """A product with a Jacobian from the left; `keep` keeps the graph for the next product."""
    try:
        found: tuple[Tensor, ...] = torch.autograd.grad(
            of, by, along, retain_graph=keep, materialize_grads=True
        )
    except torch.OutOfMemoryError:
        raise
    except (NotImplementedError, RuntimeError) as error:
        raise FlatlasError(
            f"torch can't compute a second derivative of the model: {error}. Take measures without "
            "second derivatives, such as adaptive_sharpness, or compute that part by operations "
            "that have one."
        ) from error
    return found


def _gradient(of: Tensor, by: list[Tensor]) -> tuple[Tensor, ...]:
    """A gradient that can be differentiated again."""
    found: tuple[Tensor, ...] = torch.autograd.grad(
        of, by, create_graph=True, materialize_grads=True
    )
    return found


@contextmanager
def _differentiated_by(parameters: Sequence[Tensor]) -> Iterator[None]:
    """Let frozen parameters have gradients, too."""
    frozen = [one for one in parameters if not one.requires_grad]
    try:
        for one in frozen:
            one.requires_grad_()
        yield
    finally:
        for one in frozen:
            one.requires_grad_(False)


def _reaches(parameters: Sequence[Tensor], computed: Iterable[Any]) -> bool:
    """Whether anything `computed` depends on any of these parameters; its graph is kept."""
    ends = [one for one in computed if _varies(one)]
    if not parameters or not ends:
        return False
    along = [torch.zeros_like(one) for one in ends]
    found = torch.autograd.grad(ends, parameters, along, retain_graph=True, allow_unused=True)
    return any(one is not None for one in found)


def _leaves(outputs: Outputs) -> Iterator[Any]:
    """All leaves, also those of dataclasses that torch does not know."""
    for leaf in tree_leaves(outputs):
        if is_dataclass(leaf) and not isinstance(leaf, type):
            yield from _leaves([getattr(leaf, one.name) for one in fields(leaf)])
        else:
            yield leaf


def _unreached(names: Iterable[str]) -> FlatlasError:
    return FlatlasError(
        f"no chosen parameter reaches the loss: {', '.join(names)}. Choose those that the model's "
        "output is computed with, and let model and loss compute without torch.no_grad and detach."
    )


def _varies(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.requires_grad


def _flat(parts: Sequence[Tensor]) -> Tensor:
    return torch.cat([part.flatten() for part in parts])


@contextmanager
def twice_differentiable(model: nn.Module) -> Iterator[None]:
    """Compute all layers by operations that have second derivatives."""
    with (
        torch.enable_grad(),
        differentiable_attention(),
        differentiable_layers(),
        without_cudnn(model),
    ):
        yield


def _finite(derivatives: Tensor, name: str) -> Tensor:
    """The same; an error if any is not finite, which is possible even where the loss is finite."""
    if not derivatives.isfinite().all():
        raise FlatlasError(
            f"the {name} has NaN or infinite entries at the model's weights, where the loss is "
            "finite: look for infinite numbers in the data, a function such as a root at 0, or an "
            "overflow in float32."
        )
    return derivatives


def unwrapped(model: Any) -> nn.Module:
    """The module inside the wrappers that compile or distribute it, which hide its derivatives."""
    while True:
        if isinstance(model, DataParallel | DistributedDataParallel):
            model = model.module
        # torch.compile's own class takes seconds to import.
        elif hasattr(model, "_orig_mod"):
            model = model._orig_mod
        else:
            break
    if not isinstance(model, nn.Module):
        raise FlatlasError(f"the model is {described(model)}. Allowed: an nn.Module.")
    return model


def loss_of(loss: Any, model: nn.Module) -> Loss:
    """The loss; an error if it is a module that has parameters of the model.

    Parameters that it keeps in a list stay the model's own, so the check of the first batch finds
    them.
    """
    own = [*unwrapped(model).parameters()]
    if isinstance(loss, nn.Module) and not {*map(id, own)}.isdisjoint(map(id, loss.parameters())):
        raise _penalized()
    return Loss(loss, own)


def _penalized() -> FlatlasError:
    return FlatlasError(
        "the loss depends on the model's own parameters, which stay as they are while those of a "
        "copy are measured. Let the model return such a penalty with its outputs, or leave it out."
    )


def _keep_eps(model: nn.Module) -> None:
    """Set the eps that torch takes for an RMSNorm without one: the copy changes the dtype."""
    floating = (one.dtype for one in model.parameters() if one.is_floating_point())
    usual = next(floating, torch.float32)
    for part in model.modules():
        if isinstance(part, nn.RMSNorm) and part.eps is None:
            dtype = usual if part.weight is None else part.weight.dtype
            # For half precision torch takes that of float32, in which it computes the norm.
            wide = torch.float64 if dtype == torch.float64 else torch.float32
            part.eps = torch.finfo(wide).eps


def _keep_derivatives(model: nn.Module) -> None:
    """Switch off what replaces gradients in a copied model; an error for what has no derivative."""
    for name, part in model.named_modules():
        # Backward hooks may replace gradients by tensors that are not gradients.
        part._backward_hooks.clear()
        part._backward_pre_hooks.clear()
        if isinstance(part, nn.Embedding | nn.EmbeddingBag):
            if part.max_norm is not None:
                raise FlatlasError(
                    f"'{name}' has max_norm={part.max_norm}: it rescales its weights at each "
                    "pass, without a derivative. Set max_norm to None once they are trained."
                )
            # A sparse gradient has no derivative, and a gradient divided by counts is no
            # gradient.
            part.sparse = part.scale_grad_by_freq = False
        if isinstance(part, nn.Embedding):
            # With padding_idx, torch leaves out the gradient of a row that the loss depends on.
            part.padding_idx = None


def _chosen(model: nn.Module, chosen: Chosen) -> list[str]:
    """The names of the parameters in w."""
    parameters = dict(model.named_parameters())
    if not parameters:
        whole = quantized(model)
        hint = " Measure it as it was before its layers were quantized." if whole else ""
        raise FlatlasError(f"the model has nothing to measure: it has no parameters.{hint}")
    lazy = [name for name, parameter in parameters.items() if is_lazy(parameter)]
    if lazy:
        raise FlatlasError(f"'{lazy[0]}' has no shape yet: pass one batch through the model.")
    for name, one in (*parameters.items(), *model.named_buffers()):
        if one.is_meta:
            raise FlatlasError(f"'{name}' is on the device meta, without numbers: load them.")
        if name in parameters and not one.detach().isfinite().all():
            raise FlatlasError(f"'{name}' has NaN or infinite weights: the training diverged.")
        # An infinite buffer may be a mask of attention.
        if _numbers(one).isnan().any():
            raise FlatlasError(f"'{name}' has NaN.")
    if chosen is None:
        names = [name for name, parameter in parameters.items() if parameter.requires_grad]
        empty = "no parameter requires a gradient. Name some: parameters='*'"
    else:
        names = _fitting(model, chosen)
        empty = f"parameters={chosen!r} fits none. Allowed: {', '.join(parameters)}"
    if not names:
        raise FlatlasError(f"the model has nothing to measure: {empty}.")
    if not any(parameters[name].numel() for name in names):
        raise FlatlasError(f"the model has nothing to measure: '{names[0]}' is empty.")
    _refuse_shared(parameters, names)
    for name in names:
        if not parameters[name].is_floating_point():
            raise FlatlasError(
                f"'{name}' is {parameters[name].dtype}: leave it out, by patterns in `parameters` "
                "or a function of name and parameter."
            )
    return names


def _is_chosen(chosen: Callable[..., Any], name: str, one: nn.Parameter) -> bool:
    try:
        return bool(chosen(name, one))
    except Exception as error:
        raise FlatlasError(
            f"the function `parameters` fails for '{name}': {named(error)}. Allowed: a function "
            "of name and parameter."
        ) from error


def _numbers(one: Tensor) -> Tensor:
    """The numbers of a tensor, in a layout that torch can compare."""
    is_plain = one.layout in (torch.strided, torch.sparse_coo)
    return one.detach() if is_plain else one.detach().values()


def _refuse_shared(parameters: Mapping[str, nn.Parameter], names: Sequence[str]) -> None:
    """Raise an error if a chosen parameter shares its memory with another: training moves both."""
    first: dict[int, str] = {}
    for name, one in parameters.items():
        # Tensors of other classes may have no place in memory, and empty tensors have none.
        if type(one) is not nn.Parameter or not one.numel():
            continue
        other = first.setdefault(one.data_ptr(), name)
        if other != name and not {other, name}.isdisjoint(names):
            raise FlatlasError(
                f"'{other}' and '{name}' share their numbers, as after b.data = a.data, but count "
                "as two. Make them one parameter, as in b = a, or copy the numbers."
            )


def _is_whole(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and not (leaf.is_floating_point() or leaf.is_complex())


def _fitting(model: nn.Module, chosen: Any) -> list[str]:
    """The first names of the chosen parameters; a pattern may fit any name of a parameter."""
    if callable(chosen):
        return [name for name, one in model.named_parameters() if _is_chosen(chosen, name, one)]
    patterns = [chosen] if isinstance(chosen, str) else chosen
    if not isinstance(patterns, list | tuple) or not all(isinstance(p, str) for p in patterns):
        raise FlatlasError(
            f"parameters is {described(chosen)}. Allowed: a pattern of names, as 'blocks.*', "
            "several, or a function of name and parameter."
        )
    names = dict(model.named_parameters(remove_duplicate=False))
    fitting = {pattern: [name for name in names if fnmatch(name, pattern)] for pattern in patterns}
    for pattern, found in fitting.items():
        if not found:
            raise FlatlasError(
                f"the model has nothing to measure: parameters names '{pattern}', which fits none."
                f" Allowed: {', '.join(names)}."
            )
    kept = {id(names[name]) for found in fitting.values() for name in found}
    return [name for name, one in model.named_parameters() if id(one) in kept]
