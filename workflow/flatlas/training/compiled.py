"""Training steps by the compiled kernel, one member of the stack after another."""

import ctypes
from collections.abc import Sequence
from ctypes import byref
from math import prod

import numpy as np
import torch
from torch import Tensor

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Penalty
from flatlas.training.evaluation import Evaluation
from flatlas.training.kernel import NUMBERS, PENALTIES, RULES, Descent, Kernel, Layer, Net
from flatlas.training.layout import Layout
from flatlas.training.noise import pairs_of
from flatlas.training.optimizers.compiled import CompiledOptimizer
from flatlas.training.penalty import decay
from flatlas.training.rule import GRADIENT, Rule
from flatlas.training.sparse import SparseImages
from flatlas.training.streams import Streams

# Random numbers for dropout are drawn in blocks of this many, which fit into a core's cache.
DRAWN = 2**18


class Compiled:
    """Gradients, minibatch steps and evaluations of a dense net on sparse images."""

    def __init__(
        self, kernel: Kernel, net: LayeredNet, frozen: Sequence[str], samples: Samples
    ) -> None:
        """`frozen` names the layers that no step moves."""
        self.kernel, self.net, self.layout = kernel, net, Layout(net)
        layers = [
            Layer(
                layer.inputs, layer.outputs, layer.bias, layer.name not in frozen, offset,
                1 - layer.dropout,
            )
            for layer, offset in zip(self.layout.layers, self.layout.offsets, strict=True)
        ]  # fmt: skip
        self._net = Net(len(layers), (Layer * len(layers))(*layers))
        # Noise needs a number for each moving weight, dropout for each of its units and images.
        self._moving = sum(
            prod(shape)
            for layer in self.layout.layers
            for shape in layer.shapes.values()
            if layer.name not in frozen
        )
        self._dropped = sum(layer.outputs for layer in net.dropped)
        bias = self.layout.layers[0].bias
        self.train = SparseImages(
            kernel, samples.inputs, samples.labels, samples.index, bias, net.outputs
        )
        self.test = SparseImages(
            kernel, samples.test_inputs, samples.test_labels, samples.test_index, bias, net.outputs
        )
        self.clean = np.ascontiguousarray(samples.clean)
        self._counted = self.clean.sum(axis=1)

    def descend(
        self,
        optimizer: CompiledOptimizer,
        row: int,
        draw: int,
        order: Tensor,
        batch: int,
        streams: Streams,
        lr: float,
        penalty: Penalty | None,
        record: tuple[str, np.ndarray] | None,
    ) -> None:
        """Take one member's steps through images in this order; its `row` of the stack changes.

        `record` has a layer's name and the array that receives its weights after each step.
        """
        descent = self._descent(optimizer.rule, lr, penalty)
        descent.weights = optimizer.weights[row].data_ptr()
        for number, slot in enumerate(optimizer.slots):
            descent.slots[number] = slot[row].data_ptr()
        steps, done = -(-len(order) // batch), 0
        at_once = self._steps_at_once(batch, steps)
        noise = streams.langevin[row]
        while done < steps:
            count = min(at_once, steps - done)
            chosen = order[done * batch : (done + count) * batch]
            descent.seed, descent.position = noise.seed, noise.position
            descent.steps = optimizer.steps + done
            now = record and (record[0], record[1][done : done + count])
            self._call(descent, draw, chosen, batch, streams, row, now)
            if optimizer.rule.noisy:
                noise.position += count * pairs_of(self._moving)
            done += count

    def gradient(
        self, parameters: Parameters, draws: Sequence[int], chosen: Tensor, streams: Streams
    ) -> Parameters:
        """The gradient of each row's mean loss over its chosen images."""
        weights = self.layout.packed(parameters)
        gradients = torch.zeros_like(weights)
        descent = self._descent(GRADIENT, 0.0, None)
        for row, draw in enumerate(draws):
            descent.weights = weights[row].data_ptr()
            descent.slots[0] = gradients[row].data_ptr()
            self._call(descent, draw, chosen[row], chosen.shape[1], streams, row)
        return self.layout.views(gradients)

    def evaluate(self, parameters: Parameters, draws: Sequence[int]) -> list[Evaluation]:
        """One evaluation for each row."""
        weights = self.layout.packed(parameters)
        return [
            Evaluation(
                *self._means(self.train, draw, weights[row], clean=True),
                *self._means(self.test, draw, weights[row], clean=False),
            )
            for row, draw in enumerate(draws)
        ]

    def _means(
        self, images: SparseImages, draw: int, weights: Tensor, clean: bool
    ) -> tuple[float, float]:
        """Mean loss and mean error over all images, or over the clean ones."""
        total = images.labels.shape[1]
        losses, wrong = ctypes.c_double(), ctypes.c_int64()
        failed = self.kernel.library.evaluate(
            byref(self._net),
            byref(images.of[draw]),
            total,
            self.clean[draw].ctypes.data if clean else None,
            weights.data_ptr(),
            byref(losses),
            byref(wrong),
        )
        _refuse(failed)
        counted = np.float64(self._counted[draw] if clean else total)
        return float(losses.value / counted), float(wrong.value / counted)

    def _descent(self, rule: Rule, lr: float, penalty: Penalty | None) -> Descent:
        numbers = (ctypes.c_double * NUMBERS)(*rule.numbers)
        form = "none"
        if penalty is not None:
            form = "unsquared" if penalty.form == "unsquared" else "squared"
        return Descent(
            rule=RULES.index(rule.name),
            penalty=PENALTIES.index(form),
            lr=lr,
            coefficient=0.0 if penalty is None else decay(penalty),
            numbers=numbers,
            noisy=rule.noisy,
        )

    def _steps_at_once(self, batch: int, steps: int) -> int:
        """All steps, unless random numbers for dropout must be drawn for each."""
        drawn = batch * self._dropped
        return max(1, min(steps, DRAWN // drawn)) if drawn else steps

    def _call(
        self,
        descent: Descent,
        draw: int,
        chosen: Tensor,
        batch: int,
        streams: Streams,
        row: int,
        record: tuple[str, np.ndarray] | None = None,
    ) -> None:
        chosen = chosen.contiguous()
        draws = streams.uniform(row, len(chosen) * self._dropped) if self._dropped else None
        names = [layer.name for layer in self.layout.layers]
        failed = self.kernel.library.descend(
            byref(self._net),
            byref(self.train.of[draw]),
            chosen.data_ptr(),
            len(chosen),
            batch,
            None if draws is None else draws.data_ptr(),
            byref(descent),
            names.index(record[0]) if record else 0,
            record[1].ctypes.data if record else None,
        )
        _refuse(failed)


def _refuse(failed: int) -> None:
    if failed:
        raise FlatlasError(
            "there is not enough memory for a minibatch. Give the job more, or choose a smaller "
            "batch."
        )
