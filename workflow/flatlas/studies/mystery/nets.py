"""The nets of a figure with every local measure at zero error, a column each."""

from flatlas.evidence.material import DOT, ZERO_ERROR, Material, at_moment

TABLE = "local"
KEYS = [*DOT, "factor"]
# The measures of flatness behind contrastive flatness, with their words in claims.
FLATNESS = {
    "trace": "the trace",
    "spectral_norm": "the spectral norm",
    "sharpness": "sharpness",
}
# By the trace, contrastive flatness is 1 except for the choice of minibatches.
JUDGED = ("spectral_norm", "sharpness")
SUMMARY = (
    *("regret", "regret_error", "dissimilarity", "norm", "root_mean_square"),
    *("loss", "gradient_norm", "train_error", "test_error"),
)
IN_BALL = ("regret", "dissimilarity", "norm", "converged")
OF_FLATNESS = ("contrast", "contrast_error", "of_mean", "converged")


def with_local(material: Material, prefix: str = "") -> Material:
    """Add the table `local`: a row for each net and α-scaling, measures at zero error as columns.

    `kl_regret` is undamped, `damped_regret` has the largest damping.
    """
    summary, balls, contrasts = (
        at_moment(material.tables[f"{prefix}{table}"], ZERO_ERROR)
        for table in ("regret_summary", "regret_kl_ball", "contrast_summary")
    )
    dampings = {"kl": balls["damping"].min(), "damped": balls["damping"].max()}
    parts = {name: (balls["damping"] == one, balls, IN_BALL) for name, one in dampings.items()}
    for name in FLATNESS:
        parts[name] = contrasts["flatness"] == name, contrasts, OF_FLATNESS
    swept = [key for key in ("batch", "data.attack_size") if key in summary]
    local = summary[[*KEYS, *swept, *SUMMARY]]
    for name, (chosen, rows, columns) in parts.items():
        named = {column: f"{name}_{column}" for column in columns}
        part = rows.loc[chosen, [*KEYS, *columns]].rename(columns=named)
        local = local.merge(part, on=KEYS, how="left")
    return material.with_table(TABLE, local)


def settled(column: str) -> list[str]:
    """The column that says whether the search for a measure converged; none without a search."""
    searched = ("kl", "damped", *FLATNESS)
    return [f"{name}_converged" for name in searched if column.startswith(f"{name}_")]
