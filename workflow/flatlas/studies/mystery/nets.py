"""The nets of a figure as a table: a row each, with every local measure at zero error."""

import pandas as pd

from flatlas.evidence.material import Material

NET = ["sweep", "run", "seed"]
FLATNESS = ("trace", "spectral_norm", "sharpness")
# What the regret tells of a net, and of it in a KL-ball.
TOLD = (
    *("regret", "regret_error", "dissimilarity", "norm", "root_mean_square"),
    *("loss", "gradient_norm", "train_error", "test_error"),
)
IN_BALL = ("regret", "dissimilarity", "norm", "converged")
OF_FLATNESS = ("contrast", "contrast_error", "of_mean", "converged")


def nets(material: Material, prefix: str = "") -> pd.DataFrame:
    """Each net at each α-scaling; `kl_regret` is undamped, `damped_regret` with the largest λ."""
    summary = _of(material, f"{prefix}regret_summary", TOLD)
    balls = _of(material, f"{prefix}regret_kl_ball", ("damping", *IN_BALL))
    contrasts = _of(material, f"{prefix}contrast_summary", ("flatness", *OF_FLATNESS))
    least, most = balls["damping"].min(), balls["damping"].max()
    parts = [
        _wide(balls[balls["damping"] == least], "kl", IN_BALL),
        _wide(balls[balls["damping"] == most].assign(damping_used=most), "damped", IN_BALL),
        *(_wide(contrasts[contrasts["flatness"] == name], name, OF_FLATNESS) for name in FLATNESS),
    ]
    for part in parts:
        summary = summary.merge(part, on=[*NET, "factor"], how="left")
    return summary


def _of(material: Material, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """Where no net reached zero error, a table has no columns of its own."""
    table = material.tables[name]
    swept = [key for key in ("batch", "data.attack_size") if key in table]
    own = [*swept, *columns] if name.endswith("regret_summary") else columns
    return table.reindex(columns=[*NET, "factor", *own])


def _wide(rows: pd.DataFrame, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
    named = {column: f"{name}_{column}" for column in columns}
    return rows[[*NET, "factor", *columns]].rename(columns=named)
