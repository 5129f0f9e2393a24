"""Made-up tables as measures write them, with enough chance in them to look at drawings."""

import made_up_atlas
import made_up_duality
import made_up_forgetting
import made_up_norms
import made_up_priors
import made_up_recordings
import made_up_regrets
import numpy as np
from side_by_side import columns_of, side_by_side

from flatlas.evidence.material import Material
from flatlas.plan.measure_specs import MEASURES

# Studies whose figures need tables of a certain shape. Others, as a user's own, get any numbers.
STUDIES = ("annealing", "atlas", "duality", "false_friend", "mystery", "prior")
RULE_MET, EXHAUSTED, DIVERGED = "rule met", "epochs exhausted", "diverged"
# How a swept value moves sharpness in sharp directions, in flat ones, and size.
PULLS = {
    "optimizer.lr": (-1.0, 0.0, 0.1),
    "batch": (1.0, 0.0, -0.1),
    "penalty.coefficient": (0.0, 0.0, -0.6),
    "penalty.until_epoch": (0.0, 0.0, -0.5),
    "net.init.scale": (0.0, 0.1, 0.8),
    "net.dropout": (-0.6, -0.3, 0.6),
    "data.per_class": (-0.3, -0.3, 0.1),
    "data.label_noise": (-0.5, 0.8, 0.5),
    "data.attack_size": (-0.5, 0.8, 0.5),
    "learners.kind": (-0.5, 0.0, 0.0),
}


def material(study, points, measures, realizations=3, directions=900, ends=None):
    """The tables of a figure. `ends` says how trainings (run, seed) ended that met no rule.

    `measures` maps the study's names of measures to the measures.
    """
    ends = ends or {}
    parts = {}
    for place, point in enumerate(points):
        strength = _strengths(points, point)
        stands = {key: value for key, value in point.items() if key != "lacks"}
        tables = {
            "outcomes": [({}, _outcomes(point, realizations, ends))],
            "history": [({"seed": seed}, _history(place, seed)) for seed in range(realizations)],
        }
        for name, measure in measures.items():
            if any(table.startswith(f"{name}_") for table in point.get("lacks", ())):
                continue
            tables[f"{name}_cost"] = [({}, [{"seconds": 2.0 + place, "peak_mib": 500}])]
            for seed in range(realizations):
                rng = np.random.default_rng([seed, place])
                end = ends.get((point["run"], seed), RULE_MET)
                if study in STUDIES:
                    found = taken(name, measure, rng, strength, directions, end == RULE_MET)
                else:
                    found = any_numbers(measure, rng)
                assert set(found) == set(MEASURES[measure].tables), f"the tables of {measure}"
                for table, rows in found.items():
                    own = ("at", "epoch", *MEASURES[measure].tables[table])
                    # A figure may only read what a measure declares.
                    made = {key: one for key, one in columns_of(rows).items() if key in own}
                    rows = made if end != DIVERGED else dict.fromkeys(own, ())
                    tables.setdefault(f"{name}_{table}", []).append(({"seed": seed}, rows))
        for name, some in tables.items():
            parts.setdefault(name, []).extend((standing | stands, rows) for standing, rows in some)
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def taken(name, measure, rng, strength, directions, met):
    """The tables of one net by a measure, which has a name in the study."""
    if measure in made_up_atlas.MEASURES:
        return made_up_atlas.taken(name, measure, rng, strength, met)
    if name in made_up_norms.NAMES:
        return made_up_norms.taken(name, rng, strength)
    for module in (made_up_priors, made_up_regrets):
        if measure in module.MEASURES:
            return module.taken(name, measure, rng, strength, met)
    if measure in made_up_recordings.MEASURES:
        return made_up_recordings.taken(name, measure, rng, directions)
    if measure == "forgetting":
        return made_up_forgetting.forgetting(rng)
    if measure not in (*made_up_duality.MEASURES, "minibatch_noise"):
        return any_numbers(measure, rng)
    spectrum = _spectrum(rng, strength, directions)
    kind = "ssgd" if strength.get("learners.kind") else "dpsgd"
    return made_up_duality.taken(measure, True, spectrum, kind)


def any_numbers(measure, rng):
    """Numbers above 0 in all columns that a measure declares; a summary has one row."""
    tables = {}
    for table, columns in MEASURES[measure].tables.items():
        rows = 1 if table == "summary" else 3
        whole = {int: np.arange(1, rows + 1), bool: np.full(rows, True), str: ["a"] * rows}
        tables[table] = {"at": "final", "epoch": 60} | {
            column: rng.lognormal(size=rows) if kind is float else whole[kind]
            for column, kind in columns.items()
        }
    return tables


def _strengths(points, point):
    """The position of each value of a point in its sweep, 0 to 1."""
    beside = [other for other in points if other["sweep"] == point["sweep"]]
    strengths = {}
    for key in PULLS.keys() & point.keys():
        values = sorted({other[key] for other in beside})
        strengths[key] = values.index(point[key]) / max(len(values) - 1, 1)
    return strengths


def _outcomes(point, realizations, ends):
    seeds = range(realizations)
    reasons = [ends.get((point["run"], seed), RULE_MET) for seed in seeds]
    rows = {"seed": list(seeds), "reason": reasons, "met_epoch": 60, "epoch": 60}
    return rows | {"converged": [reason == RULE_MET for reason in reasons]}


def _history(place, seed):
    """Losses that fall by two decades about epoch 20; errors that differ from point to point."""
    epoch = np.arange(61)
    loss = 2 / (1 + epoch) * np.where(epoch < 20, 1, 0.01)
    return {
        "epoch": epoch,
        "train_loss": loss,
        "train_error": np.where(epoch < 30, 0.1, 0.0),
        "weight_norm": 5 + np.log(1 + epoch),
        "test_error": 0.1 + 0.01 * seed + 0.001 * place + loss / 10,
    }


def _spectrum(rng, strength, directions):
    """It falls as those of trained nets do, with a step after the sharp directions."""
    sharp, flat, size = (
        sum(PULLS[key][which] * value for key, value in strength.items()) for which in range(3)
    )
    n, few = np.arange(1, directions + 1), made_up_duality.SHARP
    log = np.where(n <= few, 1.0 - 0.08 * n + 0.5 * sharp, -0.7 - 1.1 * np.log10(n / few) + flat)
    log = log - 8 * np.clip(n / directions - 0.9, 0, None)
    sigma_g = np.sort(np.exp(log + rng.normal(0, 0.05, directions)))[::-1]
    curvature = sigma_g**2.5 * np.exp(rng.normal(0, 0.8, directions))
    curvature[-directions // 10 :] *= rng.choice([-1, 1e-14], directions // 10)
    sigma_w = 0.17 * n**-0.35 * np.exp(0.5 * size * np.log10(9 + n)) * rng.lognormal(0, 0.2, len(n))
    correlation = np.clip(0.33 + 0.05 * size + rng.normal(0, 0.04, directions), 0.01, 0.9)
    table = {"n": n, "eigenvalue": curvature, "sigma_g": sigma_g, "sigma_w": sigma_w}
    return table | {"correlation": correlation, "gap": correlation * sigma_g * sigma_w}
