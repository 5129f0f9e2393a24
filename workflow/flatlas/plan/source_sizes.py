"""How many images a source and samples of it have, and whether a source has enough."""

from collections.abc import Iterator

from flatlas.plan.data_specs import (
    AttackSpec,
    Cifar10,
    Cifar100,
    Digits,
    FunctionsSpec,
    Mnist,
    NoiseSpec,
    SamplesSpec,
    SourceSpec,
    SubsetSpec,
    Textures,
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


def _images_to_draw_from(subset: SubsetSpec) -> Counts | None:
    """The same for the classes that a subset draws from."""
    counts = images_of_each_class(subset.source)
    if counts is None:
        return None
    train, test = (tuple(each[label] for label in subset.drawn_classes) for each in counts)
    return train, test


def too_few_images(samples: SamplesSpec) -> Iterator[tuple[str, str]]:
    """The keys of `data` that ask for more images than the source has, each with the reason."""
    subset = subset_of(samples)
    if isinstance(subset, FunctionsSpec):
        return
    counts = _images_to_draw_from(subset)
    if counts is None:
        return
    train, test = counts
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


def images_in_epoch(samples: SamplesSpec) -> int:
    """The number of images in an epoch: all training images, and E to evaluate on."""
    return images_seen(samples) + attack_size(samples)


def images_to_train_on(samples: SamplesSpec) -> int:
    """How many images S and the attack set have together, in a realization."""
    train, _ = _drawn(subset_of(samples))
    return train + attack_size(samples)


def images_with_true_labels(samples: SamplesSpec) -> int:
    """How many training images of a realization keep their true label, outside the attack set."""
    train, _ = _drawn(subset_of(samples))
    return train - round(samples.fraction * train) if isinstance(samples, NoiseSpec) else train


def images_to_test_on(samples: SamplesSpec) -> int:
    """How many images E has. Functions are tested on all inputs."""
    _, test = _drawn(subset_of(samples))
    return test


def images_seen(samples: SamplesSpec, test_images: int | None = None) -> int:
    """How many training images (without attack set) and test images a realization has.

    At most `test_images` of E count.
    """
    train, test = _drawn(subset_of(samples))
    return train + min(test, test_images or test)


def _drawn(subset: SubsetSpec | FunctionsSpec) -> tuple[int, int]:
    """The training and test images; at most those that the source has, if the plan knows them."""
    if isinstance(subset, FunctionsSpec):
        return 2**subset.source.bits, 2**subset.source.bits
    train = subset.train_size or (subset.per_class or 0) * len(subset.drawn_classes)
    counts = _images_to_draw_from(subset) if subset.at_most else None
    if counts is None:
        return train, subset.test_size
    return min(train, sum(counts[0])), min(subset.test_size, sum(counts[1]))


def as_drawn(samples: SamplesSpec) -> SamplesSpec:
    """The same samples, asking for the images that they get, if the plan knows how many."""
    subset = subset_of(samples)
    if isinstance(subset, FunctionsSpec) or not subset.at_most:
        return samples
    if images_of_each_class(subset.source) is None:
        return samples
    train, test = _drawn(subset)
    drawn = subset.model_copy(update={"train_size": train, "test_size": test, "at_most": None})
    return drawn if samples == subset else samples.model_copy(update={"subset": drawn})


def attack_size(samples: SamplesSpec) -> int:
    """How many images with wrong labels are added to S."""
    return samples.size if isinstance(samples, AttackSpec) else 0
