"""Where images come from: one module a kind of source, each with `load(spec, root)`."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from flatlas.data.images import Images
from flatlas.plan.data_specs import SourceSpec


def load_source(spec: SourceSpec, root: Path, report: Callable[..., None]) -> Images:
    """The images of a source; `root` is where data lie, `report(done, total, ...)` is told of it.

    The module is imported by its name, so that a stage's fingerprint holds the chosen one only.
    """
    source = import_module(f"flatlas.data.sources.{spec.kind}")
    images: Images = source.load(spec, root.expanduser())
    report(1, 1, training=len(images.train_labels), test=len(images.test_labels))
    return images
