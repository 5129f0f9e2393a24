"""The cost of a gradient of each large network of `paper`: operations, memory, time on a core.

It writes docs/made/large_nets.csv, from which `make docs` makes the table of docs/scale.md.
Operations are counted as torch's FlopCounterMode does: convolutions and matrix products, with two
for each multiplication. Images are noise: neither operations nor memory depend on them.
"""

import csv
import time

import torch
from large_nets import MEASURED, Gradient, large_runs
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from flatlas.nets import build_net
from flatlas.plan.training_specs import RunSpec
from flatlas.store.atomic import replacing
from flatlas.training.gradient import autograd_gradient

IMAGES = 2


def main() -> None:
    """Write the table, and print it."""
    torch.set_num_threads(1)
    with replacing(MEASURED) as temporary, temporary.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["net", "images", *Gradient._fields])
        for net, run in large_runs().items():
            one = gradient_of(run)
            writer.writerow([*net, *(f"{number:.4g}" for number in one)])
            print(
                f"{net[0]:24} {one.core_operations_a_second / 1e9:6.1f}e9 operations a second",
                flush=True,
            )


def gradient_of(run: RunSpec) -> Gradient:
    """The gradient's costs for one image, measured on a minibatch of a few."""
    net = build_net(run.net, run.input_shape, run.outputs)
    parameters = net.initial([0])
    images = torch.randn(1, IMAGES, *run.input_shape)
    labels = torch.arange(IMAGES).unsqueeze(0) % max(run.outputs, 2)

    def step() -> None:
        autograd_gradient(net, parameters, images, labels, masks={})

    with FlopCounterMode(display=False) as forward, torch.no_grad():
        net.forward(parameters, images, {})
    with FlopCounterMode(display=False) as counted:
        kept = _kept_by(step, [*parameters.values()])
    began = time.process_time()
    step()
    seconds = time.process_time() - began
    operations = counted.get_total_flops()
    return Gradient(
        operations / IMAGES,
        forward.get_total_flops() / IMAGES,
        kept / IMAGES,
        operations / seconds,
    )


def _kept_by(step, weights: list[Tensor]) -> int:
    """The bytes that a gradient keeps for the backward pass, without those of the weights."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        step()
    for weight in weights:
        kept.pop(weight.untyped_storage().data_ptr(), None)
    return sum(kept.values())
