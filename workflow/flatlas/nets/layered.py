"""A net that is a sequence of layers: convolutions first, then dense layers."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from flatlas.errors import FlatlasError, nearest
from flatlas.nets.initialization import initial_parameter
from flatlas.nets.layers import Convolution, Dense, Layer, Parameters, channels_last
from flatlas.plan.initializations import InitSpec
from flatlas.seeds import stream

# Images in one gradient, with convolutions and without, limited by memory.
CONVOLVED, DENSE = 500, 10_000
# Images whose convolutions fit into a CPU's caches.
CACHED = 32


class LayeredNet:
    """Layers in order; every dense layer can be addressed by its name."""

    layers_known = True
    """Whether `layers` are the whole net; most layers of a torch module are not listed."""
    trained = False
    """Whether its weights come from a file; the weights before training are then unknown."""
    random_training = False
    """Whether training draws other random numbers than masks of layers, from a seed."""
    own = False
    """Whether it is a user's module, which may need images in float64 or with channels first."""

    def __init__(self, layers: Sequence[Layer], init: InitSpec, global_pool: bool = False) -> None:
        """The layers come from a family's `build`."""
        self.layers = tuple(layers)
        self.init = init
        self.global_pool = global_pool

    def refuse_training(self) -> None:
        """Raise an error if the net can be measured, but not trained."""

    def refuse_drawn(self) -> None:
        """Raise an error if its layers before the last can't have weights that are drawn here."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter of one member, by name."""
        return {name: shape for layer in self.layers for name, shape in layer.shapes.items()}

    @property
    def outputs(self) -> int:
        """The number of logits; one means a binary task."""
        return self.layers[-1].outputs

    @property
    def only_dense(self) -> bool:
        """Whether all layers are dense, so that their closed forms apply."""
        return self.layers_known and not self.convolutions

    def at_once(self, device: torch.device) -> int:
        """The number of images in one gradient: here the same on each device."""
        return DENSE if self.only_dense else CONVOLVED

    @property
    def cached(self) -> int:
        """The number of images whose activities fit into a CPU's caches."""
        return DENSE if self.only_dense else CACHED

    @property
    def dense_layers(self) -> tuple[Dense, ...]:
        """The dense layers, first to last."""
        return tuple(layer for layer in self.layers if isinstance(layer, Dense))

    @property
    def dropped(self) -> tuple[Dense, ...]:
        """The dense layers whose outputs have dropout in training."""
        return tuple(layer for layer in self.dense_layers if layer.dropout)

    @property
    def convolutions(self) -> tuple[Convolution, ...]:
        """The convolution stages, first to last."""
        return tuple(layer for layer in self.layers if isinstance(layer, Convolution))

    @property
    def faster_with_channels_last(self) -> bool:
        """Whether a CPU computes gradients faster with channels last in memory, due to pooling."""
        return any(stage.pool > 1 for stage in self.convolutions)

    def laid_out(self, images: Tensor, bfloat16: bool = False) -> Tensor:
        """Images (members, batch, ...), with channels last in memory where gradients are faster.

        That is on a CPU in float32, and on a GPU's tensor cores in `bfloat16`.
        """
        if self.own or images.dtype != torch.float32:
            return images
        on_cpu = images.device.type == "cpu" and self.faster_with_channels_last
        return channels_last(images) if bfloat16 or on_cpu else images

    def dense(self, name: str) -> Dense:
        """The dense layer of this name."""
        for layer in self.dense_layers:
            if layer.name == name:
                return layer
        allowed = [layer.name for layer in self.dense_layers]
        kind = "a convolution" if name in [one.name for one in self.convolutions] else "no layer"
        raise FlatlasError(
            f"layer '{name}' is {kind} of this net. "
            f"Dense layers: {', '.join(allowed)}.{nearest(name, allowed)}"
        )

    def layer(self, name: str) -> Layer:
        """The layer of this name, dense or a convolution."""
        convolved = (one for one in self.convolutions if one.name == name)
        return next(convolved, None) or self.dense(name)

    def after(self, name: str) -> tuple[Dense, ...]:
        """The dense layers above the one of this name."""
        position = self.dense_layers.index(self.dense(name))
        return self.dense_layers[position + 1 :]

    def initial(self, seeds: Sequence[int], purpose: str = "weights") -> Parameters:
        """Fresh weights, one member for each seed, each from its own stream for the purpose."""
        generators = [torch.Generator().manual_seed(stream(seed, purpose)) for seed in seeds]
        return {
            name: torch.stack(
                [initial_parameter(self.init, name, shape, layer.fans, g) for g in generators]
            )
            for layer in self.layers
            for name, shape in layer.shapes.items()
        }

    @property
    def statistic_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of a solution's batch-norm statistics; here none."""
        return {}

    def statistics(self, parameters: Parameters, images: Tensor, counted: Tensor) -> Parameters:
        """The statistics of one member, over the images that count."""
        return {}

    def seeing(self, statistics: Parameters) -> "LayeredNet":
        """The same net, evaluated with these statistics."""
        return self

    def features(self, parameters: Parameters, inputs: Tensor) -> Tensor:
        """The input of the first dense layer, for images (members, batch, channels, h, w)."""
        return self._flat(_through(self.convolutions, parameters, inputs))

    def _flat(self, images: Tensor) -> Tensor:
        return images.mean((3, 4)) if self.global_pool else images.flatten(2)

    def forward(
        self, parameters: Parameters, inputs: Tensor, masks: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Logits (members, batch, outputs); in training with the dropout `masks`, by layer."""
        activity = self.features(parameters, inputs)
        for layer in self.dense_layers:
            activity = layer.forward(parameters, activity)
            if masks and layer.name in masks:
                activity = activity * masks[layer.name]
        return activity

    def into(self, parameters: Parameters, inputs: Tensor, layer: str) -> Tensor:
        """The activity a that enters a layer; for a convolution, images."""
        target = self.layer(layer)
        if isinstance(target, Convolution):
            below = self.convolutions[: self.convolutions.index(target)]
            return _through(below, parameters, inputs)
        dense = self.dense_layers[: self.dense_layers.index(target)]
        return _through(dense, parameters, self.features(parameters, inputs))

    def logits_from(self, parameters: Parameters, z: Tensor, layer: str) -> Tensor:
        """The logits for given pre-activations z of a layer without `skip`."""
        target = self.layer(layer)
        activity = target.activity(z)
        dense = self.dense_layers
        if isinstance(target, Convolution):
            above = self.convolutions[self.convolutions.index(target) + 1 :]
            activity = self._flat(_through(above, parameters, activity))
        else:
            dense = self.after(layer)
        return _through(dense, parameters, activity)


def _through(layers: Iterable[Layer], parameters: Parameters, activity: Tensor) -> Tensor:
    for layer in layers:
        activity = layer.forward(parameters, activity)
    return activity
