"""A kernel sampled once, for all attack sizes: which images it is of, and who reads it."""

import numpy as np
import pandas as pd
import pytest
import torch
from checkout import job_counts

from flatlas.data.samples import load_samples
from flatlas.gaussian_process.kernels import last_layer_variances, monte_carlo_kernel
from flatlas.gaussian_process.prior import log_prior
from flatlas.nets import build_net
from flatlas.nets.loss import predictions
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import XavierUniform
from flatlas.seeds import generator
from flatlas.store.arrays import read_arrays

# Xavier's rule has no arc-cosine kernel: it draws otherwise at every width.
BASE = {
    "data": {
        "source": "digits", "positive": [5, 6, 7, 8, 9], "train_size": 30, "test_size": 10,
    },
    "net": {"family": "dense", "hidden": [8], "init": {"scheme": "xavier_uniform"}},
    "optimizer": {"name": "sgd", "lr": 0.1},
    "batch": 10,
    "stop": {"zero_error": True, "epochs": 500},
}  # fmt: skip
XAVIER = XavierUniform(scheme="xavier_uniform")
NET = build_net(DenseNet(family="dense", hidden=(8,), init=XAVIER), (1, 8, 8), 1)


@pytest.fixture(scope="module")
def sampled(new_tiny):
    """A checkout with the prior of two attack sizes under one sampled kernel."""
    checkout = new_tiny()
    checkout.set_study("runs", "base", value=BASE)
    sweep = {"run": "base", "grid": {"data.attack_size": [0, 10]}}
    checkout.keep_one_figure(sweep, {"measure": "gp_prior", "kernel": "monte_carlo"})
    jobs = job_counts(checkout.snakemake("--until", "measure_gp_prior"))
    assert (jobs["kernel"], jobs["train"], jobs["measure_gp_prior"]) == (1, 2, 2)
    return checkout


def test_the_sampled_kernel_covers_training_images_and_then_the_rest(sampled):
    """Four nets for forty images; σ_w² = 2 · 8 / (8 + 1), Xavier's, and no biases."""
    kernels = np.load(sampled.only("kernels/*/kernel.npy"))
    assert kernels.shape == (2, 40, 40)
    samples = drawn(sampled)
    assert last_layer_variances(NET) == pytest.approx((16 / 9, 0.0))
    for seed in (0, 1):
        seeds = generator(seed, "monte carlo kernel").integers(2**63, size=4).tolist()
        expected = monte_carlo_kernel(NET, both(samples.of(seed)), seeds)
        np.testing.assert_allclose(kernels[seed], expected, rtol=1e-12)


def test_the_prior_of_a_realization_is_that_of_its_function_under_its_own_kernel(sampled):
    """The run has no attack set; a forward pass gives its function."""
    kernels, samples = np.load(sampled.only("kernels/*/kernel.npy")), drawn(sampled)
    weights = read_arrays(sampled.only("runs/digits-30-dense8*/weights.safetensors"))
    table = sampled.only("measures/gp_prior/digits-30-dense8*/summary.parquet")
    found = pd.read_parquet(table).set_index("seed")["log10_p"]
    for seed in (0, 1):
        parameters = {
            name: torch.from_numpy(weights[f"final/{name}"][[seed]]).double() for name in NET.shapes
        }
        function = predictions(NET.forward(parameters, both(samples.of(seed)).unsqueeze(0)))
        [prior] = log_prior(torch.tensor(kernels[seed]), function, "probit", torch.arange(40))
        assert found[seed] == pytest.approx(prior.evidence.log_z / np.log(10), rel=1e-9)


def drawn(checkout):
    images = checkout.only("data/sources/*/images.safetensors")
    return load_samples(images, checkout.only("data/subsets/*/samples.parquet"), (0, 1))


def both(samples):
    parts = [torch.from_numpy(part[0]) for part in (samples.inputs, samples.test_inputs)]
    return torch.cat(parts).double()
