"""The input of training and measures: the images and labels of a stack of realizations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from flatlas.data.draws import draw_of, has_one_draw
from flatlas.data.images import read_inputs
from flatlas.errors import FlatlasError
from flatlas.store.damage import REMEDY
from flatlas.store.tables import read_table


@dataclass(frozen=True)
class Samples:
    """Inputs as (draw, image, channel, row, column), labels as (draw, image).

    Inputs are pixels / 255, normalized if the source says so. There is a draw for each seed, or one
    for all seeds. `clean` marks the training images with their true label, outside the attack set;
    stopping rules use only those. Equal numbers in `index` (draw, image) mean equal images, and
    also in `test_index`.
    """

    seeds: tuple[int, ...]
    inputs: np.ndarray
    labels: np.ndarray
    clean: np.ndarray
    test_inputs: np.ndarray
    test_labels: np.ndarray
    index: np.ndarray | None = None
    test_index: np.ndarray | None = None

    @property
    def draws(self) -> int:
        """The number of different draws."""
        return len(self.labels)

    def of(self, seed: int) -> "Samples":
        """The samples of one realization, without a copy."""
        if seed not in self.seeds:
            raise FlatlasError(
                f"there are no samples for seed {seed}. Allowed: {', '.join(map(str, self.seeds))}."
            )
        first = 0 if self.draws == 1 else self.seeds.index(seed)
        here = slice(first, first + 1)
        arrays = {k: v[here] for k, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, seeds=(seed,), **arrays)


def load_samples(images_path: str | Path, table_path: str | Path, seeds: Sequence[int]) -> Samples:
    """The samples of these realizations, from a source and a sample table, in the table's order."""
    table = read_table(table_path)
    drawn = seeds[:1] if has_one_draw(table) else seeds
    draws = [draw_of(table, seed) for seed in drawn]
    train = [draw[draw["part"] != "test"] for draw in draws]
    test = [draw[draw["part"] == "test"] for draw in draws]
    _refuse_unequal(train, drawn, "training", table_path)
    _refuse_unequal(test, drawn, "test", table_path)
    labels = _stacked(train, "label")
    index, test_index = _stacked(train, "index"), _stacked(test, "index")
    unattacked = np.stack([(draw["part"] == "train").to_numpy() for draw in train])
    return Samples(
        seeds=tuple(seeds),
        inputs=read_inputs(images_path, "train_images", index),
        labels=labels,
        clean=unattacked & (labels == _stacked(train, "true_label")),
        test_inputs=read_inputs(images_path, "test_images", test_index),
        test_labels=_stacked(test, "label"),
        index=index,
        test_index=test_index,
    )


def _refuse_unequal(
    draws: Sequence[pd.DataFrame], seeds: Sequence[int], part: str, path: str | Path
) -> None:
    counts = {seed: len(draw) for seed, draw in zip(seeds, draws, strict=True)}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} for seed {seed}" for seed, count in counts.items())
        raise FlatlasError(
            f"{path} has unequal numbers of {part} images ({listed}), but realizations train as "
            f"one stack and need equal numbers. Delete it, {REMEDY}."
        )


def _stacked(draws: Sequence[pd.DataFrame], column: str) -> np.ndarray:
    return np.stack([draw[column].to_numpy(dtype=np.int64) for draw in draws])
