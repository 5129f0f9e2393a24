"""The prior of a function by expectation propagation, compared with GPy, which the paper used.

The images are scikit-learn's digits and their mirror images, with true labels and the hard sign.
Each measurement has a separate process with one thread. Times are processor times, because other
work on the machine would slow the two ways by different factors. flatlas does not depend on GPy: if
it is not installed, only flatlas is measured.
"""

import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor

from benchmarks.costs import Cost, in_new_process, timed
from flatlas.gaussian_process.duplicates import first_of_equals
from flatlas.gaussian_process.kernels import ArcCosineKernel
from flatlas.gaussian_process.prior import Link, log_prior

Way = Callable[[Tensor, Tensor], list[float]]
# What the paper needs: |S| + |E| images, and functions for 11 attack sizes and 5 seeds.
IMAGES, FUNCTIONS = 1500, 55


def main() -> None:
    """Print processor seconds, peak memory and, if GPy is installed, the ratio to it."""
    has_gpy = find_spec("GPy") is not None
    if not has_gpy:
        print("GPy is not installed here, so there is no ratio.")
    for images in (600, 2000):
        ours, our_log_z = in_new_process(_timed, partial(_ours, link="heaviside"), images, 1)
        print(f"n = {images}, flatlas  {ours}", flush=True)
        if has_gpy:
            gpy, gpy_log_z = in_new_process(_timed, _gpy, images, 1)
            apart = abs(our_log_z[0] / gpy_log_z[0] - 1)
            print(f"n = {images}, GPy      {gpy}")
            print(
                f"  ratio {gpy.seconds / ours.seconds:.0f}; log Z agree to {apart:.0e}", flush=True
            )
    for link in ("heaviside", "probit"):
        many, _ = in_new_process(_timed, partial(_ours, link=link), IMAGES, FUNCTIONS)
        print(f"{FUNCTIONS} functions, n = {IMAGES}, {link:9}  {many}", flush=True)


def _timed(way: Way, images: int, functions: int) -> tuple[Cost, list[float]]:
    """The cost and log Z of one way."""
    torch.set_num_threads(1)
    # The first products of a process also load libraries, but a job measures many functions.
    way(*_digits(20, 1))
    return timed(time.process_time, way, *_digits(images, functions))


def _digits(images: int, functions: int) -> tuple[Tensor, Tensor]:
    """Pixels, and functions: the true labels, with more and more wrong ones in the last third."""
    pixels, digits = load_digits(return_X_y=True)
    mirrored = pixels.reshape(-1, 8, 8)[:, :, ::-1].reshape(-1, 64)
    pixels = np.concatenate([pixels, mirrored])[:images] / 16
    true = np.tile(digits >= 5, 2)[:images]
    order = np.random.default_rng(0).permutation(np.arange(images - images // 3, images))
    labels = np.tile(true, (functions, 1))
    for wrong, row in enumerate(labels):
        flipped = order[: wrong * len(order) // (2 * functions)]
        row[flipped] = ~row[flipped]
    return torch.as_tensor(pixels), torch.as_tensor(labels).long()


def _ours(pixels: Tensor, labels: Tensor, link: Link) -> list[float]:
    kernel_matrix = ArcCosineKernel(2, 2.0, 1.0)(pixels).to_dense()
    found = log_prior(kernel_matrix, labels, link, first_of_equals(pixels))
    return [prior.evidence.log_z for prior in found]


def _gpy(pixels: Tensor, labels: Tensor) -> list[float]:
    """GPy with its default settings, on the same kernel matrix."""
    from GPy.inference.latent_function_inference.expectation_propagation import EP
    from GPy.likelihoods import Bernoulli
    from GPy.likelihoods.link_functions import Heaviside
    from paramz import ObsAr

    kernel_matrix = ArcCosineKernel(2, 2.0, 1.0)(pixels).to_dense().numpy()
    outputs = ObsAr(labels.T.numpy().astype(float))
    likelihood = Bernoulli(Heaviside())
    _, log_z, _ = EP().inference(None, pixels.numpy(), likelihood, outputs, K=kernel_matrix)
    return [float(log_z)]
