"""Label noise: a part of the training labels replaced by wrong ones."""

import numpy as np
import pandas as pd

from flatlas.data.draws import draw_of
from flatlas.data.subset import task_labels
from flatlas.data.wrong_labels import wrong_labels
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import NoiseSpec
from flatlas.seeds import generator


def mislabel(subset_table: pd.DataFrame, spec: NoiseSpec) -> pd.DataFrame:
    """Each realization's draw with round(fraction N) of its N training labels wrong.

    More noise with the same seed keeps the wrong labels of less noise. Any class of the task may
    be a wrong label, also one of which no image was drawn.
    """
    allowed = np.unique(task_labels(np.array(spec.subset.drawn_classes), spec.subset))
    draws = [_noisy(draw_of(subset_table, seed), allowed, spec, seed) for seed in spec.seeds]
    return pd.concat(draws, ignore_index=True)


def _noisy(draw: pd.DataFrame, allowed: np.ndarray, spec: NoiseSpec, seed: int) -> pd.DataFrame:
    labels = draw["true_label"].to_numpy(copy=True)
    train = np.flatnonzero(draw["part"] == "train")
    count = round(spec.fraction * len(train))
    if not 0 < count < len(train):
        raise FlatlasError(
            f"label_noise {spec.fraction:g} makes {count} of {len(train)} labels wrong. Choose a "
            "fraction that makes at least one label wrong and leaves at least one right."
        )
    wrong = wrong_labels(labels[train], allowed, generator(seed, "noisy labels"))
    chosen = generator(seed, "label noise").permutation(len(train))[:count]
    labels[train[chosen]] = wrong[chosen]
    return draw.assign(label=labels)
