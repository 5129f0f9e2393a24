"""The images of a source that a realization is trained and tested on.

A sample table has a row for each image: `seed` of the draw, `part` ('train', 'attack' or 'test'),
`index` among the source's training images (or, for 'test', among its test images), the `label`
that the net is trained on, and the `true_label`.
"""

import numpy as np
import pandas as pd

from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import SubsetSpec, named
from flatlas.seeds import generator


def draw_subsets(
    train_labels: np.ndarray, test_labels: np.ndarray, spec: SubsetSpec
) -> pd.DataFrame:
    """The draws of all seeds of the spec, one after another."""
    draws = [draw_subset(train_labels, test_labels, spec, seed) for seed in spec.seeds]
    return pd.concat(draws, ignore_index=True)


def draw_subset(
    train_labels: np.ndarray, test_labels: np.ndarray, spec: SubsetSpec, seed: int
) -> pd.DataFrame:
    """One draw: training images and test images, each in random order.

    A larger draw with the same seed includes the smaller one, whichever size grows.
    """
    classes = picked_classes(train_labels, spec)
    train = _shuffled(train_labels, classes, seed, "training images")
    if spec.per_class is None:
        train = _first(train, spec.train_size, "train_size", spec)
    else:
        train = _first_of_each_class(train, train_labels, classes, spec.per_class, spec)
    test = _shuffled(test_labels, classes, seed, "test images")
    test = _first(test, spec.test_size, "test_size", spec)
    return pd.concat(
        [
            sample_rows(seed, "train", train, task_labels(train_labels[train], spec)),
            sample_rows(seed, "test", test, task_labels(test_labels[test], spec)),
        ],
        ignore_index=True,
    )


def sample_rows(seed: int, part: str, index: np.ndarray, true_label: np.ndarray) -> pd.DataFrame:
    """Rows of a sample table, with true labels."""
    return pd.DataFrame(
        {
            "seed": seed,
            "part": part,
            "index": index,
            "label": true_label,
            "true_label": true_label,
        }
    )


def picked_classes(train_labels: np.ndarray, spec: SubsetSpec) -> np.ndarray:
    """The original classes whose images are drawn, checked against those that the source has."""
    picked = np.unique(train_labels)
    if spec.classes is not None:
        _refuse_unknown("classes", spec.classes, picked)
        if not spec.classes or len(set(spec.classes)) < len(spec.classes):
            raise FlatlasError(
                f"classes is {list(spec.classes)}. Name at least one class, and each only once."
            )
        picked = np.array(spec.classes, dtype=np.int64)
    if spec.positive is not None:
        _refuse_unknown("positive", spec.positive, picked)
    if spec.only is None:
        return picked
    _refuse_unknown("only", spec.only, picked)
    return np.array(spec.only, dtype=np.int64)


def task_labels(classes: np.ndarray, spec: SubsetSpec) -> np.ndarray:
    """The net's target labels for images of these original classes."""
    if spec.positive is not None:
        return np.isin(classes, spec.positive).astype(np.int64)
    if spec.classes is not None:
        return np.argmax(classes[:, None] == np.array(spec.classes), axis=1)
    return classes


def _refuse_unknown(key: str, given: tuple[int, ...], allowed: np.ndarray) -> None:
    unknown = sorted(set(given) - set(allowed.tolist()))
    if unknown:
        raise FlatlasError(
            f"{key} names {', '.join(map(str, unknown))}. Allowed: {', '.join(map(str, allowed))}."
        )


def _shuffled(labels: np.ndarray, classes: np.ndarray, seed: int, purpose: str) -> np.ndarray:
    """The indices of all images of these classes, in random order."""
    order = generator(seed, purpose).permutation(len(labels))
    return order[np.isin(labels[order], classes)]


def _first(index: np.ndarray, wanted: int | None, key: str, spec: SubsetSpec) -> np.ndarray:
    if wanted is not None and wanted > len(index) and not spec.at_most:
        raise FlatlasError(
            f"{key} is {wanted}, but {named(spec.source)} has only {len(index)} such images in the "
            f"picked classes. Choose at most {len(index)}."
        )
    return index[:wanted]


def _first_of_each_class(
    index: np.ndarray, labels: np.ndarray, classes: np.ndarray, wanted: int, spec: SubsetSpec
) -> np.ndarray:
    """The first images of each class, still in the order of `index`."""
    of_index = labels[index]
    counts = {int(label): int(np.sum(of_index == label)) for label in classes}
    scarcest = min(counts, key=counts.__getitem__)
    if counts[scarcest] < wanted:
        raise FlatlasError(
            f"per_class is {wanted}, but class {scarcest} of {named(spec.source)} has only "
            f"{counts[scarcest]} training images. Choose at most {counts[scarcest]}. (Classes are "
            "numbered from 0; those of a folder, in the order of their names.)"
        )
    rank = pd.Series(of_index).groupby(of_index).cumcount().to_numpy()
    return index[rank < wanted]
