"""The prior of a function by expectation propagation, timed beside GPy's, which the paper used.

scikit-learn's digits and their mirror images, true labels, hard sign. Each measurement has a
process of its own with one thread, and what is told is processor time: a busy machine slows the two
ways by unequal factors. GPy is no dependency of flatlas: without it only our side is measured.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor

from flatlas.gaussian_process.duplicates import first_of_equals
from flatlas.gaussian_process.kernels import ArcCosineKernel
from flatlas.gaussian_process.prior import Link, log_prior

Way = Callable[[Tensor, Tensor], list[float]]
# What the paper asks for: |S| + |E| images, and functions for 11 attack sizes and 5 seeds.
IMAGES, FUNCTIONS = 1500, 55


def main() -> None:
    """Print processor seconds, peak memory, and the ratio to GPy where there is one."""
    has_gpy = find_spec("GPy") is not None
    if not has_gpy:
        print("GPy is not installed here, so there is no ratio.")
    for images in (600, 2000):
        ours, our_log_z = _apart(_hard, images, 1)
        print(f"n = {images}, flatlas  {_told(ours)}", flush=True)
        if has_gpy:
            gpy, gpy_log_z = _apart(_gpy, images, 1)
            apart = abs(our_log_z[0] / gpy_log_z[0] - 1)
            print(f"n = {images}, GPy      {_told(gpy)}")
            print(f"  ratio {gpy[0] / ours[0]:.0f}; log Z agree to {apart:.0e}", flush=True)
    for link, way in (("heaviside", _hard), ("probit", _probit)):
        many, _ = _apart(way, IMAGES, FUNCTIONS)
        print(f"{FUNCTIONS} functions, n = {IMAGES}, {link:9}  {_told(many)}", flush=True)


def _told(measured: tuple[float, float]) -> str:
    seconds, mebibytes = measured
    return f"{seconds:7.2f} s, peak {mebibytes:5.0f} MiB"


def _apart(way: Way, images: int, functions: int) -> tuple[tuple[float, float], list[float]]:
    """(seconds, peak MiB) and log Z of one way, in a fresh process."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(_timed, way, images, functions).result()


def _timed(way: Way, images: int, functions: int) -> tuple[tuple[float, float], list[float]]:
    torch.set_num_threads(1)
    # The first products of a process pay for loading libraries; a job measures many functions.
    way(*_digits(20, 1))
    given = _digits(images, functions)
    began = time.process_time()
    log_z = way(*given)
    seconds = time.process_time() - began
    return (seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024), log_z


def _digits(images: int, functions: int) -> tuple[Tensor, Tensor]:
    """Pixels, and functions: the true labels, and more and more of the last third wrong."""
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


def _hard(pixels: Tensor, labels: Tensor) -> list[float]:
    return _ours(pixels, labels, "heaviside")


def _probit(pixels: Tensor, labels: Tensor) -> list[float]:
    return _ours(pixels, labels, "probit")


def _ours(pixels: Tensor, labels: Tensor, link: Link) -> list[float]:
    kernel_matrix = ArcCosineKernel(2, 2.0, 1.0)(pixels).to_dense()
    found = log_prior(kernel_matrix, labels, link, first_of_equals(pixels))
    return [prior.evidence.log_z for prior in found]


def _gpy(pixels: Tensor, labels: Tensor) -> list[float]:
    """GPy as it comes: its own settings, on the same kernel matrix."""
    from GPy.inference.latent_function_inference.expectation_propagation import EP
    from GPy.likelihoods import Bernoulli
    from GPy.likelihoods.link_functions import Heaviside
    from paramz import ObsAr

    kernel_matrix = ArcCosineKernel(2, 2.0, 1.0)(pixels).to_dense().numpy()
    outputs = ObsAr(labels.T.numpy().astype(float))
    likelihood = Bernoulli(Heaviside())
    _, log_z, _ = EP().inference(None, pixels.numpy(), likelihood, outputs, K=kernel_matrix)
    return [float(log_z)]


if __name__ == "__main__":
    main()
