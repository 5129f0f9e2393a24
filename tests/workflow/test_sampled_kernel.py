"""A kernel sampled once, for all attack sizes: which images it is of, and who reads it."""

import numpy as np
import pandas as pd
import pytest
import torch
from checkout import Checkout, copied, job_counts, with_tiny_study

from flatlas.data.samples import load_samples
from flatlas.gaussian_process.kernels import last_features, monte_carlo_kernel
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
def sampled(tmp_path_factory, memory):
    """A checkout with the prior of two attack sizes under a sampled kernel, and what was said."""
    root = with_tiny_study(copied(tmp_path_factory.mktemp("sampled") / "checkout"))
    checkout = Checkout(root, memory)
    checkout.set_study("runs", "base", value=BASE)
    sweep = {"run": "base", "grid": {"data.attack_size": [0, 10]}}
    checkout.set_study("sweeps", value={"sgd": sweep})
    prior = {"measure": "gp_prior", "kernel": "monte_carlo"}
    checkout.set_study("measures", value={"prior": prior})
    figure = {"title": "Three", "sweeps": ["sgd"], "measures": ["prior"]}
    checkout.set_study("figures", value={"s4": figure})
    return checkout, checkout.snakemake("--until", "measure_gp_prior")


def test_all_attack_sizes_share_it(sampled):
    _, said = sampled
    jobs = job_counts(said)
    assert (jobs["kernel"], jobs["train"], jobs["measure_gp_prior"]) == (1, 2, 2)


def test_it_is_of_s_and_then_e(sampled):
    """Four nets for forty images; σ_w² = 2 · 8 / (8 + 1), Xavier's, and no biases."""
    checkout, _ = sampled
    (file,) = (checkout / "results").glob("kernels/*/kernel.npy")
    kernels = np.load(file)
    assert kernels.shape == (2, 40, 40)
    samples = drawn(checkout)
    net = build_net(
        DenseNet(family="dense", hidden=(8,), init=XavierUniform(scheme="xavier_uniform")),
        (1, 8, 8), 1,
    )  # fmt: skip
    for seed in (0, 1):
        seeds = generator(seed, "monte carlo kernel").integers(2**63, size=4).tolist()
        features = last_features(net, both(samples.of(seed)))
        expected = monte_carlo_kernel(features, seeds, 16 / 9, 0.0)
        np.testing.assert_allclose(kernels[seed], expected, rtol=1e-12)


def test_the_prior_is_that_of_its_own_realization(sampled):
    """Without attack set and with zero error on S, f is known on S: its prior there is a bound."""
    checkout, _ = sampled
    (file,) = (checkout / "results").glob("kernels/*/kernel.npy")
    kernels, samples = np.load(file), drawn(checkout)
    for table in (checkout / "results").glob("measures/gp_prior/*/summary.parquet"):
        summary = pd.read_parquet(table).set_index("seed")
        assert (summary["points"] == 40).all()
        for seed, row in summary[summary["train_error"] == 0].iterrows():
            of_s = torch.tensor(kernels[seed][:30, :30])
            labels = torch.from_numpy(samples.of(seed).labels)
            [prior] = log_prior(of_s, labels, "probit", torch.arange(30))
            assert row["log10_p"] < prior.evidence.log_z / np.log(10)


def drawn(checkout):
    (images,) = (checkout / "results").glob("data/sources/*/images.safetensors")
    (subset,) = (checkout / "results").glob("data/subsets/*/samples.parquet")
    return load_samples(images, subset, (0, 1))


def both(samples):
    parts = [torch.from_numpy(part[0]) for part in (samples.inputs, samples.test_inputs)]
    return torch.cat(parts).double()
