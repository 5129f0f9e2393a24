"""A net that is a torch module, from a family with batch norm or from a user."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy, deepcopy
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils._pytree import tree_leaves

from flatlas.device import memory_of
from flatlas.errors import FlatlasError, first_few
from flatlas.layer_names import FEATURES, LAST
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Dense, Parameters
from flatlas.nets.precision import in_precision
from flatlas.nets.refusals import cannot_take, logits_of, refuse_mixing
from flatlas.plan.initializations import FrameworkUniform
from flatlas.seeds import stream

# Images in one block of the batch-norm statistics.
BLOCK = 256
# NUMBERS: in the activities of all images in one gradient on a CPU. With second derivatives, each
# number takes about BYTES; on a GPU, all of them take at most SHARE of its memory.
NUMBERS, BYTES, SHARE = 2**25, 50, 1 / 4
# Numbers that fit into a CPU's caches.
CACHED = 2**21


class ModuleNet(LayeredNet):
    """A torch module, split into `features` and its last dense layer `fc`, a normal `Dense`.

    The parameters of the module keep their names, as in `features.conv1.weight`. It is called for
    one member of a stack at a time. In training, batch norm uses the minibatch; elsewhere it uses
    `statistics`: mean 0 and variance 1, or those given to `seeing`. Random parts of training, such
    as dropout, may draw from torch's own stream, which is seeded for each member and minibatch.
    """

    layers_known = False
    faster_with_channels_last = True

    def __init__(
        self,
        make: Callable[[], nn.Module],
        input_shape: tuple[int, int, int],
        outputs: int,
        trained: bool = False,
        own: bool = True,
    ) -> None:
        """`make` returns a new module with its own initial weights, drawn from torch's own stream.

        If the module comes `trained`, `make` returns it with these weights. `own` is false for the
        modules of our families.
        """
        self._make, self.trained, self.own = make, trained, own
        module, linear = _split(self._made(0), input_shape, outputs)
        self._numbers = _numbers(module, input_shape)
        self.random_training, changed = _after_training(module, input_shape)
        self._module = module
        self._recurrent = any(isinstance(part, nn.RNNBase) for part in module.modules())
        last = Dense(LAST, linear.in_features, outputs, linear.bias is not None, relu=False)
        super().__init__([last], FrameworkUniform(scheme="framework_uniform"))
        self._norms = {
            name: part
            for name, part in module.named_modules()
            if isinstance(part, _BatchNorm) and part.track_running_stats
        }
        for norm in self._norms.values():
            # No running statistics: each minibatch has its own.
            norm.track_running_stats, norm.momentum = False, 1.0
        self._statistics = {
            f"{FEATURES}.{name}.{kind}": getattr(norm, kind)
            for name, norm in self._norms.items()
            for kind in ("running_mean", "running_var")
        }
        others = (one for one in module.named_parameters() if not one[1].is_floating_point())
        self._constants = {
            f"{FEATURES}.{name}": value.detach()
            for name, value in chain(module.named_buffers(), others)
            if name.rpartition(".")[0] not in self._norms
        }
        self._changed = [one for one in changed if one.rpartition(".")[0] not in self._norms]
        self._computes_last = not {"weight", "bias"} <= linear._parameters.keys()
        if own:
            self._refuse_single_precision(_named(module, linear), input_shape)

    def refuse_training(self) -> None:
        """Raise an error if the module, as it is split, would not be trained as it is elsewhere."""
        self.refuse_drawn()
        if self._computes_last:
            raise FlatlasError(
                "the net computes the weight or bias of its last nn.Linear from other parameters, "
                "as with weight norm or pruning, but flatlas trains weight and bias themselves. "
                "Leave that layer as it is, or train the net elsewhere and give its checkpoint as "
                "'weights', with stop: {epochs: 0}."
            )

    def refuse_drawn(self) -> None:
        """Raise an error if training changes buffers, which are not stored with the weights.

        All members share them, and they may depend on the weights: also drawn ones need their own.
        """
        if self._changed:
            raise FlatlasError(
                f"training would change the net's buffers {first_few(self._changed)}, as those of "
                "spectral norm or of nn.InstanceNorm with running statistics. Of these flatlas "
                "trains only batch norm's. Use a layer without them; keep what no logit depends "
                "on, as a counter, in an attribute that is no buffer; or train the net elsewhere "
                "and give its checkpoint as 'weights', with stop: {epochs: 0}."
            )

    def _refuse_single_precision(self, drawn: Parameters, input_shape: tuple[int, ...]) -> None:
        """Raise an error if the net fails in float64: measures would, after a whole training."""
        images = torch.zeros(2, *input_shape, dtype=torch.float64)
        parameters = {name: value.double().unsqueeze(0) for name, value in drawn.items()}
        try:
            with torch.no_grad():
                self.forward(parameters, images.unsqueeze(0))
        except Exception as error:
            raise cannot_take(images, error) from error

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter of one member, by name."""
        inner = _weights(self._module)
        return {f"{FEATURES}.{name}": tuple(p.shape) for name, p in inner.items()} | super().shapes

    @property
    def statistic_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every mean and variance of batch norm."""
        return {name: tuple(value.shape) for name, value in self._statistics.items()}

    def initial(self, seeds: Sequence[int], purpose: str = "weights") -> Parameters:
        """Fresh weights, one member for each seed, as the module draws them."""
        made = (self._made(stream(seed, purpose)) for seed in seeds)
        members = [_named(*_without_last(module)) for module in made]
        return {name: torch.stack([one[name] for one in members]) for name in self.shapes}

    def _made(self, seed: int) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return self._make()

    def at_once(self, device: torch.device) -> int:
        """The number of images in one gradient: fewer for larger nets, more on a GPU."""
        on_gpu = device.type == "cuda"
        numbers = int(SHARE * memory_of(device) / BYTES) if on_gpu else NUMBERS
        return max(1, numbers // self._numbers)

    @property
    def cached(self) -> int:
        """The number of images whose activities fit into a CPU's caches: fewer for larger nets."""
        return CACHED // self._numbers

    def forward(
        self, parameters: Parameters, inputs: Tensor, masks: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Logits (members, batch, outputs); in training mode if `masks` are given, even if empty.

        The only masks are the members' `seed`s, for a module that draws random numbers.
        """
        if masks is None:
            return super().forward(parameters, inputs)
        self._module.train()
        try:
            activity = self._each(parameters, inputs, self._constants, masks.get("seed"))
        except ValueError as error:
            if inputs.shape[1] > 1:
                raise
            raise FlatlasError(
                f"a minibatch has one image, but this net needs more to train ({error}). Choose a "
                "batch that leaves at least two images for the last minibatch."
            ) from error
        return self.layers[0].forward(parameters, activity)

    def features(self, parameters: Parameters, inputs: Tensor) -> Tensor:
        """The input of `fc`, for images (members, batch, channels, h, w)."""
        seen = {**self._constants, **self._statistics}
        self._module.eval()
        return self._each(parameters, inputs, seen)

    @torch.no_grad()
    def statistics(self, parameters: Parameters, images: Tensor, counted: Tensor) -> Parameters:
        """Batch-norm statistics of one member, over the `counted` of these images (images, ...).

        The images are shuffled, always in the same way, and processed in blocks, as in training.
        Means and unbiased variances are averaged over blocks, as in torch's `update_bn`.
        """
        if not self._norms:
            return {}
        chosen = counted.nonzero().flatten()
        random = torch.Generator().manual_seed(stream(0, "batch norm"))
        order = torch.randperm(len(chosen), generator=random)
        blocks = chosen[order.to(chosen.device)].tensor_split(-(-len(chosen) // BLOCK))
        total = {name: torch.zeros_like(v).to(images) for name, v in self._statistics.items()}
        here = {name: torch.zeros_like(value) for name, value in total.items()}
        self._module.eval()
        for norm in self._norms.values():
            norm.track_running_stats = True
            norm.train()
        try:
            for block in blocks:
                some = images[block].unsqueeze(0)
                self._each(parameters, some, {**self._constants, **here})
                for name, value in total.items():
                    value += here[name] / len(blocks)
        finally:
            for norm in self._norms.values():
                norm.track_running_stats = False
        return total

    def seeing(self, statistics: Parameters) -> "ModuleNet":
        """The same net with these statistics for batch norm."""
        other = copy(self)
        other._statistics = statistics
        return other

    def _each(
        self,
        parameters: Parameters,
        inputs: Tensor,
        buffers: Parameters,
        seeds: Tensor | None = None,
    ) -> Tensor:
        seen = {name: _like(inputs, buffer) for name, buffer in _inner(buffers).items()}
        weights, rows = _inner(parameters), []
        # cuDNN has no second derivatives of recurrent layers, and in evaluation mode not even a
        # first one.
        cudnn = torch.backends.cudnn.flags(enabled=False) if self._recurrent else nullcontext()
        with cudnn:
            for row, images in enumerate(inputs):
                own = {name: value[row] for name, value in weights.items()}
                with nullcontext() if seeds is None else _drawing(int(seeds[row]), images):
                    rows.append(functional_call(self._module, {**own, **seen}, (images,)))
        return torch.stack(rows)


def _named(module: nn.Module, linear: nn.Linear) -> Parameters:
    """The weights of the features and of the last layer, by our names."""
    named = {f"{FEATURES}.{name}": p.detach() for name, p in _weights(module).items()}
    # Ours is z = a W, torch's z = a Wᵀ.
    named[f"{LAST}.weight"] = linear.weight.detach().T.contiguous()
    return named if linear.bias is None else named | {f"{LAST}.bias": linear.bias.detach()}


def _weights(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are real numbers; integers and frozen complex ones are constants."""
    return {name: p for name, p in module.named_parameters() if p.is_floating_point()}


def _inner(named: Parameters) -> Parameters:
    """The tensors of the module, by their names in it."""
    prefix = f"{FEATURES}."
    return {k.removeprefix(prefix): v for k, v in named.items() if k.startswith(prefix)}


@contextmanager
def _drawing(seed: int, images: Tensor) -> Iterator[None]:
    """Seed torch's own stream; restore it afterwards."""
    with torch.random.fork_rng(devices=[images.device] if images.is_cuda else []):
        torch.manual_seed(seed)
        yield


def _like(inputs: Tensor, buffer: Tensor) -> Tensor:
    """The tensor on the images' device, in their precision unless it has integers."""
    return buffer.to(inputs.device, in_precision(buffer.dtype, inputs.dtype))


def _split(
    module: nn.Module, input_shape: tuple[int, int, int], outputs: int
) -> tuple[nn.Module, nn.Linear]:
    """The features and the last layer of a module; an error if the last layer is not its end."""
    module.eval()
    images = torch.rand(3, *input_shape, generator=torch.Generator().manual_seed(0))
    images = images.to(_dtype(module))
    with torch.no_grad():
        whole = logits_of(module, images, outputs)
        moved = _moved(module, images)
        refuse_mixing(moved(images[:2]), moved(images))
        # Some modules fail only for a single image, as by squeezing.
        logits_of(module, images[:1], outputs)
        features, linear = _without_last(module)
        if not _is_last(linear, features, images, whole):
            raise FlatlasError(
                "the net does not end with its last nn.Linear. The output of that layer must be "
                "the logits, with nothing after or beside it."
            )
    shared = [one for one in features.parameters() if one is linear.weight or one is linear.bias]
    if shared:
        raise FlatlasError(
            "the net's last nn.Linear shares its weights with another layer. Give it its own."
        )
    return features, linear


@torch.no_grad()
def _moved(module: nn.Module, images: Tensor) -> nn.Module:
    """A copy whose weights are a little different, and none of them all 0.

    Weights of 0 hide what happens before them, and drawn ones may be a fixed point of training. If
    the net is undefined at other weights, the copy has the same.
    """
    moved, random = deepcopy(module), torch.Generator().manual_seed(0)
    for value in _weights(moved).values():
        noise = torch.randn(value.shape, generator=random).to(value)
        value.data = value * (1 + 0.01 * noise) if value.any() else 0.1 * noise
    return moved if moved(images).isfinite().all() else deepcopy(module)


def _is_last(linear: nn.Linear, features: nn.Module, images: Tensor, logits: Tensor) -> bool:
    try:
        return torch.equal(linear(features(images)), logits)
    except Exception:
        # A layer after the last nn.Linear can't take the input of that nn.Linear.
        return False


def _dtype(module: nn.Module) -> torch.dtype:
    """The precision of the images that the module takes."""
    return next((p.dtype for p in _weights(module).values()), torch.get_default_dtype())


def _numbers(module: nn.Module, input_shape: tuple[int, int, int]) -> int:
    """The number of activations of all layers of a module for one image."""
    made = 0

    def count(part: nn.Module, images: Any, out: Any) -> None:
        nonlocal made
        made += sum(one.numel() for one in tree_leaves(out) if isinstance(one, Tensor))

    leaves = [part for part in module.modules() if not list(part.children())]
    hooks = [part.register_forward_hook(count) for part in leaves]
    with torch.no_grad():
        module(torch.zeros(1, *input_shape, dtype=_dtype(module)))
    for hook in hooks:
        hook.remove()
    return made


def _after_training(module: nn.Module, input_shape: tuple[int, int, int]) -> tuple[bool, list[str]]:
    """Whether two images in training mode draw from torch's stream; the buffers that they change.

    The module does not change.
    """
    images = torch.rand(2, *input_shape, generator=torch.Generator().manual_seed(0))
    images = images.to(_dtype(module))
    # In training, buffers that depend on the weights see others.
    trained, before = _moved(module, images).train(), dict(module.named_buffers())
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        state = torch.get_rng_state()
        trained(images)
        draws = not torch.equal(state, torch.get_rng_state())
    after = trained.named_buffers()
    return draws, [n for n, one in after if n not in before or not _same(one, before[n])]


def _same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same numbers, or NaN at the same places."""
    known = ~one.isnan()
    return torch.equal(known, ~other.isnan()) and torch.equal(one[known], other[known])


def _without_last(module: nn.Module) -> tuple[nn.Module, nn.Linear]:
    """The module without its last nn.Linear, and that layer."""
    inside = [(name, part) for name, part in module.named_modules() if name]
    found = [(name, part) for name, part in inside if isinstance(part, nn.Linear)]
    if not found:
        raise FlatlasError(
            "the net has no nn.Linear. It must end with one, which returns the logits."
        )
    name, linear = found[-1]
    module.set_submodule(name, nn.Identity())
    return module, linear
