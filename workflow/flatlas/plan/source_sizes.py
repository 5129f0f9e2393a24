"""How many images of each class a source has, and whether they are enough for some samples."""

from collections.abc import Iterator

from flatlas.plan.data_specs import (
    Cifar10,
    Cifar100,
    Digits,
    FunctionsSpec,
    Mnist,
    SamplesSpec,
    SourceSpec,
    Textures,
    attack_size,
    images_to_train_on,
    named,
    subset_of,
)

# Training and test images of each class.
MNIST = (
    (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
    (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
)
DIGITS = (
    (119, 122, 118, 122, 121, 122, 121, 120, 116, 120),
    (59, 60, 59, 61, 60, 60, 60, 59, 58, 60),
)

Counts = tuple[tuple[int, ...], tuple[int, ...]]


def images_of_each_class(source: SourceSpec) -> Counts | None:
    """The training images and the test images of each class; None if the plan can't know."""
    if isinstance(source, Mnist):
        return MNIST
    if isinstance(source, Digits):
        return DIGITS
    if isinstance(source, Cifar10):
        return 10 * (5000,), 10 * (1000,)
    if isinstance(source, Cifar100):
        return 100 * (500,), 100 * (100,)
    if isinstance(source, Textures):
        return source.classes * (source.train_per_class,), source.classes * (source.test_per_class,)
    return None


def too_few_images(samples: SamplesSpec) -> Iterator[tuple[str, str]]:
    """The keys of `data` that ask for more images than the source has, each with the reason."""
    subset = subset_of(samples)
    if isinstance(subset, FunctionsSpec):
        return
    counts = images_of_each_class(subset.source)
    if counts is None:
        return
    picked = subset.only or subset.classes or range(len(counts[0]))
    train, test = ([each[label] for label in picked] for each in counts)
    left = sum(train) - min(sum(train), images_to_train_on(subset))
    exact = not subset.at_most
    limits = {
        "per_class": (subset.per_class, min(train), "training images in the smallest class"),
        "train_size": (exact and subset.train_size, sum(train), "training images in these classes"),
        "test_size": (exact and subset.test_size, sum(test), "test images in these classes"),
        "attack_size": (attack_size(samples), left, "training images of these classes outside S"),
    }
    for key, (wanted, most, what) in limits.items():
        if wanted and wanted > most:
            has = f"but {named(subset.source)} has only {most:,} {what}"
            yield key, f"is {wanted:,}, {has}. Allowed: at most {most:,}."
