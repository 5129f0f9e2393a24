"""Why networks of the user count as no solution."""

import pandas as pd


def doubts_about(trainings: pd.DataFrame, names: pd.Series) -> list[str]:
    """For each network that is no solution: its name and why."""
    doubted = trainings.assign(name=names)[~trainings["converged"]]
    return [f"{one['name']}, {one['reason']}" for one in doubted.to_dict("records")]
