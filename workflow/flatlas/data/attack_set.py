"""Attack sets: more training images, with wrong labels, which make a net generalize worse.

S is a draw's training images, E its test images, A the attack set; the net is trained on S and A.
"""

import numpy as np
import pandas as pd

from flatlas.data.draws import draw_of
from flatlas.data.subset import picked_classes, sample_rows, task_labels
from flatlas.data.wrong_labels import wrong_labels
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import AttackSpec
from flatlas.seeds import generator


def draw_attack_sets(
    subset_table: pd.DataFrame, train_labels: np.ndarray, spec: AttackSpec
) -> pd.DataFrame:
    """S and E of each realization unchanged, and an attack set for each realization.

    A is drawn for each seed even if one draw of S and E serves all.
    """
    draws = []
    for seed in spec.seeds:
        draw = draw_of(subset_table, seed)
        is_test = draw["part"] == "test"
        draws += [draw[~is_test], _attack_rows(draw, train_labels, spec, seed), draw[is_test]]
    return pd.concat(draws, ignore_index=True)


def _attack_rows(
    draw: pd.DataFrame, train_labels: np.ndarray, spec: AttackSpec, seed: int
) -> pd.DataFrame:
    """A: images outside S, of the same classes.

    A larger A includes a smaller one, with the same wrong labels.
    """
    of_classes = np.isin(train_labels, picked_classes(train_labels, spec.subset))
    used = draw.loc[draw["part"] == "train", "index"]
    left = np.setdiff1d(np.flatnonzero(of_classes), used)
    if spec.size > len(left):
        raise FlatlasError(
            f"attack_size is {spec.size}, but only {len(left)} images of the picked classes are "
            f"left outside the training set. Choose at most {len(left)}."
        )
    left = generator(seed, "attack set").permutation(left)
    true_labels = task_labels(train_labels[left], spec.subset)
    allowed = np.unique(task_labels(train_labels[of_classes], spec.subset))
    labels = wrong_labels(true_labels, allowed, generator(seed, "attack labels"))
    # Cut before the rows are made: a slice of them would keep them all, for every seed.
    chosen = slice(spec.size)
    rows = sample_rows(seed, "attack", left[chosen], true_labels[chosen])
    return rows.assign(label=labels[chosen])
