"""Ids of specs: a slug that a person can read, and a digest that no two specs share."""

import re
from pathlib import PurePath

from flatlas.plan.data_specs import (
    AttackSpec,
    Folder,
    FunctionsSpec,
    NoiseSpec,
    SamplesSpec,
    SourceSpec,
    SubsetSpec,
)
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.spec import digest
from flatlas.plan.training_specs import RunSpec


def source_id(source: SourceSpec) -> str:
    """As in 'mnist-9a3f…'."""
    return f"{source_slug(source)}-{digest(source)}"


def samples_id(samples: SamplesSpec) -> str:
    """As in 'mnist-400pc-…', 'mnist-400pc-noise0.2-…' or 'boolean-1000functions-…'."""
    return f"{_samples_slug(samples)}-{digest(samples)}"


def run_id(run: RunSpec) -> str:
    """As in 'mnist-400pc-dense30x30-sgd0.1-b25-…', or 'mnist-400pc-<net>-<file of weights>-…'."""
    given = run.given_weights
    if given is None:
        weights = _training_slug(run)
    else:
        weights = _cut(re.sub(r"[^\w.-]", "_", PurePath(given).stem))
    return "-".join((_samples_slug(run.samples), run.net.slug, weights, digest(run)))


def kernel_id(kernel: KernelSpec) -> str:
    """As in 'cifar10-5000-convolutional-…'."""
    return "-".join((_samples_slug(kernel.samples), kernel.net.slug, digest(kernel)))


def measurement_id(measure: MeasureSpec) -> str:
    """The readable part of the run's id, and a digest of measure and run together."""
    return f"{run_id(measure.run).rpartition('-')[0]}-{digest(measure)}"


def _training_slug(run: RunSpec) -> str:
    optimizer = f"{run.optimizer.name}{run.optimizer.lr:g}"
    if run.learners:
        optimizer += f"-{run.learners.kind}{run.learners.count}"
    return f"{optimizer}-{run.batch if run.batch == 'full' else f'b{run.batch}'}"


def source_slug(source: SourceSpec) -> str:
    """The kind of a source; for a folder of images, the folder's name."""
    name = PurePath(source.path).name if isinstance(source, Folder) else ""
    # The names of . and .. would begin an id with a dash or a dot.
    return _cut(name) if name.strip(".") else source.kind


def _cut(name: str) -> str:
    """A name, cut if it is too long for a part of a file name."""
    return name.encode()[:60].decode(errors="ignore")


def _samples_slug(samples: SamplesSpec) -> str:
    if isinstance(samples, SubsetSpec):
        size = f"{samples.per_class}pc" if samples.per_class else f"{samples.train_size}"
        return f"{source_slug(samples.source)}-{size}"
    if isinstance(samples, NoiseSpec):
        return f"{_samples_slug(samples.subset)}-noise{samples.fraction:g}"
    if isinstance(samples, FunctionsSpec):
        return f"{source_slug(samples.source)}-{samples.count}functions"
    assert isinstance(samples, AttackSpec)
    return f"{_samples_slug(samples.subset)}-attack{samples.size}"
