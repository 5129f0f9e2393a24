"""How often the atlas' intervals hold the truth, in made-up designs where it is known.

    python tests/studies/atlas_coverage.py 400

prints the tables of docs/atlas.md in ten minutes: from 400 designs, or 80 where each has many.
"""

import sys
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from flatlas.claims.claim import UNDECIDED, Claim
from flatlas.claims.conventions import ADDS, COIN, RIGHT, USEFUL
from flatlas.statistics.estimate import estimate, least
from flatlas.statistics.means import mean
from flatlas.studies.atlas.changes import changes, right, right_on_average
from flatlas.studies.atlas.fig6 import environments
from flatlas.studies.atlas.nets import CROSSED, along, crossed
from flatlas.studies.atlas.quantities import BASELINES
from flatlas.studies.atlas.ranking import ranked

REALIZATIONS, VALUES, AXES = 8, 8, 12
DESIGN = {"optimizer.lr": 3, "batch": 3, "net.hidden": 3, "penalty.coefficient": 2}
EVEN = np.linspace(-1, 1, VALUES)
# So many realizations know a coefficient well enough.
MANY = 100
MEASURE = "sharpness"
# Half of the test images are hard, or easy, for all networks of a realization.
SHARED = 0.5


@dataclass(frozen=True)
class Design:
    """Expected gaps of some settings, and the expected value of a measure and of each baseline."""

    settings: dict
    gaps: np.ndarray
    measures: np.ndarray
    images: int

    def drawn(self, realizations, chance):
        """A table of networks as `nets` makes it, of these many realizations.

        Networks differ by chance, and all of a realization by its images.
        """
        size = realizations, len(self.gaps)
        images = 0.005 * chance.normal(size=(realizations, 1))
        gaps = np.clip(self.gaps + images + 0.003 * chance.normal(size=size), 0.002, 0.9)
        alike = int(SHARED * self.images)
        hard = np.sort(chance.uniform(size=(realizations, alike)))
        wrong = [np.searchsorted(one, some) for one, some in zip(hard, gaps, strict=True)]
        wrong = (wrong + chance.binomial(self.images - alike, gaps)) / self.images
        values = self.measures[:, np.newaxis] + 0.2 * chance.normal(size=(5, *size))
        columns = dict(zip((MEASURE, *BASELINES), values.reshape(5, -1), strict=True))
        return pd.DataFrame(
            {
                **{key: np.tile(one, realizations) for key, one in self.settings.items()},
                **{"study": "made", "at": "met+0", "gap": wrong.ravel(), **columns},
                "seed": np.repeat(np.arange(realizations), size[1]),
            }
        )


def smooth(places, chance, waves=30):
    """A random smooth function at some places (places, dimensions), of variance one."""
    frequencies = 2 * chance.normal(size=(places.shape[1], waves))
    shift, size = chance.uniform(0, 2 * np.pi, size=waves), chance.normal(size=waves)
    return np.cos(places @ frequencies + shift) @ size * np.sqrt(2 / waves)


def design(settings, places, images, chance, spread=None, known=None):
    """A design of some settings at these places, from −1 to 1.

    The expected gaps differ by `spread`; the measure knows a part of them, between −1 and 1, and
    the baselines know a half.
    """
    spread = chance.choice([0.01, 0.03]) if spread is None else spread
    known = chance.uniform(-1, 1) if known is None else known
    moves = smooth(places, chance)
    parts = [known, 0.5, 0.5, 0.5, 0.5]
    others = np.stack([smooth(places, chance) for _ in parts])
    weights = np.array(parts)[:, np.newaxis]
    measures = weights * moves + np.sqrt(1 - weights**2) * others
    settings["run"] = [*map(str, range(len(places)))]
    return Design(settings, 0.06 + spread * moves, measures, images)


def of_axis(images, chance, places=None, **known):
    places = EVEN if places is None else places
    settings = {"batch": np.arange(VALUES), "sweep": ["batch"] * VALUES}
    return design(settings, places[:, np.newaxis], images, chance, **known)


def of_crossed(images, chance, **known):
    points = np.array([*product(*map(range, DESIGN.values()))])
    settings = dict(zip(DESIGN, points.T, strict=True)) | {"sweep": [CROSSED] * len(points)}
    places = 2 * points / (np.array([*DESIGN.values()]) - 1) - 1
    return design(settings, places, images, chance, **known)


def tau_of_axis(table):
    return ranked(along(table, "batch"), MEASURE)


def tau_of_crossed(table):
    return ranked(crossed(table), MEASURE)


def given_of_crossed(table):
    return ranked(crossed(table), MEASURE, BASELINES)


def bootstrap_of_axis(table):
    """The same with the percentile bootstrap, of the mean over realizations."""
    taus = [tau_of_axis(some).value for _, some in table.groupby("seed")]
    return estimate(mean, np.array(taus))


def pairs_of_axis(table):
    return changes(along(table, "batch"), neighbours=True).assign(environment="batch")


# How a design is made, its number, how that is estimated, and the criterion.
NUMBERS = {
    "τ along an axis": (of_axis, tau_of_axis, tau_of_axis, USEFUL),
    "the same, percentile bootstrap": (of_axis, tau_of_axis, bootstrap_of_axis, USEFUL),
    "τ over the crossed design": (of_crossed, tau_of_crossed, tau_of_crossed, USEFUL),
    "the same, given the baselines": (of_crossed, given_of_crossed, given_of_crossed, ADDS),
}


def judged(name, images, chance):
    """Whether the interval of one design holds the truth, half its width, and if it decides."""
    make, number, estimated, criterion = NUMBERS[name]
    made = make(images, chance)
    truth = number(made.drawn(MANY, chance)).value
    return row(estimated(made.drawn(REALIZATIONS, chance)), truth, criterion)


def row(found, truth, criterion):
    verdict = Claim("", "", "", criterion, found).verdict
    return found.low <= truth <= found.high, (found.high - found.low) / 2, verdict == UNDECIDED


def shifted(chance):
    """Evenly spaced values, by up to half a step higher or lower."""
    return EVEN + chance.uniform(-0.5, 0.5) * (EVEN[1] - EVEN[0])


def at_random(chance):
    return np.sort(chance.uniform(-1, 1, size=VALUES))


def judged_elsewhere(places, images, chance, often=20):
    """An axis at some values; the truth is the mean over such values."""
    functions = chance.integers(2**32)

    def made():
        return of_axis(images, np.random.default_rng(functions), places(chance))

    truth = np.mean([tau_of_axis(made().drawn(5, chance)).value for _ in range(often)])
    return row(tau_of_axis(made().drawn(REALIZATIONS, chance)), truth, USEFUL)


def judged_least(images, chance):
    """The least of the coefficients of twelve axes."""
    made = [of_axis(images, chance) for _ in range(AXES)]
    truth = min(tau_of_axis(one.drawn(MANY, chance)).value for one in made)
    found = [tau_of_axis(one.drawn(REALIZATIONS, chance)) for one in made]
    return row(least(found, REALIZATIONS), truth, USEFUL)


def judged_changes(images, chance, often=40):
    """The share of right changes of eight axes; the truth is what this share is on average."""
    known = chance.uniform(-1, 1)
    made = [of_axis(images, chance, known=known) for _ in range(8)]
    tables = [one.drawn(REALIZATIONS * (1 + often), chance) for one in made]
    pairs = [pairs_of_axis(one).assign(environment=place) for place, one in enumerate(tables)]
    starts = np.cumsum([0, *map(len, tables[:-1])])
    for some, start in zip(pairs, starts, strict=True):
        some[["net_before", "net_after"]] += start
    whole = pd.concat(tables, ignore_index=True)
    found, *others = [
        right_on_average(some, whole[MEASURE])
        for some in atlases(pd.concat(pairs, ignore_index=True), whole)
    ]
    return row(found, np.mean([one.value for one in others]), RIGHT)


def judged_worst(images, chance, often=40):
    """The worst environment; the truth is the least of their shares on average."""
    table = of_crossed(images, chance).drawn(REALIZATIONS * (1 + often), chance)
    found, *others = [right(some, table[MEASURE]) for some in atlases(environments(table), table)]
    shares = pd.DataFrame([{name: one.value for name, one in them.items()} for them in others])
    known = [one for one in found.values() if np.isfinite(one.low)]
    return row(least(known, REALIZATIONS), shares.mean().min(), COIN)


def atlases(pairs, table):
    """The pairs of so many realizations as an atlas has, and again of others."""
    return [
        some
        for _, some in pairs.groupby(table["seed"][pairs["net_before"]].to_numpy() // REALIZATIONS)
    ]


def ceiling(images, spread, chance, often=20):
    """τ along an axis and over the crossed design of a measure that knows each expected gap."""
    taus = []
    for make, number in ((of_axis, tau_of_axis), (of_crossed, tau_of_crossed)):
        made = [make(images, chance, spread=spread) for _ in range(often)]
        tables = [(one, one.drawn(REALIZATIONS, chance)) for one in made]
        known = [t.assign(**{MEASURE: np.tile(one.gaps, REALIZATIONS)}) for one, t in tables]
        taus.append(np.mean([number(one).value for one in known]))
    return taus


def main(often):
    judges = {name: partial(judged, name) for name in NUMBERS}
    judges |= {
        "τ along an axis, its values shifted": partial(judged_elsewhere, shifted),
        "τ along an axis, its values at random": partial(judged_elsewhere, at_random),
        "the least of twelve axes": judged_least,
        "right changes, mean of eight axes": judged_changes,
        "the worst environment": judged_worst,
    }
    for (name, judge), images in product(judges.items(), (1000, 4000)):
        chance = np.random.default_rng(0)
        count = often if name in NUMBERS else often // 5
        holds, half, open_ = np.mean([judge(images, chance) for _ in range(count)], axis=0)
        print(
            f"| {name} | {images} | {count} | {holds:.3f} | ±{half:.2f} | {open_:.2f} |", flush=True
        )
    for images, spread in product((1000, 4000), (0.005, 0.01, 0.02, 0.04)):
        axis, whole = ceiling(images, spread, np.random.default_rng(0))
        print(f"| {100 * spread:.1f} % | {images} | {axis:.2f} | {whole:.2f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
