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
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import XavierUniform
from flatlas.seeds import generator

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
    net = build_net(
        DenseNet(family="dense", hidden=(8,), init=XavierUniform(scheme="xavier_uniform")),
        (1, 8, 8), 1,
    )  # fmt: skip
    assert last_layer_variances(net) == pytest.approx((16 / 9, 0.0))
    for seed in (0, 1):
        seeds = generator(seed, "monte carlo kernel").integers(2**63, size=4).tolist()
        expected = monte_carlo_kernel(net, both(samples.of(seed)), seeds)
        np.testing.assert_allclose(kernels[seed], expected, rtol=1e-12)


def test_the_prior_of_a_realization_uses_its_own_kernel(sampled):
    """Without attack set and with zero error on S, f is known on S: its prior there is a bound."""
    kernels, samples = np.load(sampled.only("kernels/*/kernel.npy")), drawn(sampled)
    for table in (sampled / "results").glob("measures/gp_prior/*/summary.parquet"):
        summary = pd.read_parquet(table).set_index("seed")
        assert (summary["points"] == 40).all()
        for seed, row in summary[summary["train_error"] == 0].iterrows():
            of_s = torch.tensor(kernels[seed][:30, :30])
            labels = torch.from_numpy(samples.of(seed).labels)
            [prior] = log_prior(of_s, labels, "probit", torch.arange(30))
            assert row["log10_p"] < prior.evidence.log_z / np.log(10)


def drawn(checkout):
    images = checkout.only("data/sources/*/images.safetensors")
    return load_samples(images, checkout.only("data/subsets/*/samples.parquet"), (0, 1))


def both(samples):
    parts = [torch.from_numpy(part[0]) for part in (samples.inputs, samples.test_inputs)]
    return torch.cat(parts).double()
