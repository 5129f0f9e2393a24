"""The sources of images: one module for each kind, with a function `load(spec, root)`."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from flatlas.data.images import Images
from flatlas.data_root import naming_data_root
from flatlas.plan.data_specs import SourceSpec


def load_source(
    spec: SourceSpec, root: Path, root_from: str, report: Callable[..., None]
) -> Images:
    """The images of a source in the data root; loading calls `report(done, total, ...)`.

    `root_from` names the place that sets the root, for error messages.

    The module is imported by name, so a stage's fingerprint covers only the chosen one.
    """
    source = import_module(f"flatlas.data.sources.{spec.kind}")
    with naming_data_root(root, root_from):
        images: Images = source.load(spec, root.expanduser())
    report(1, 1, training=len(images.train_labels), test=len(images.test_labels))
    return images
