"""Functions as targets: each realization learns one, on all inputs of the domain (§5.1)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from flatlas.data.subset import sample_rows
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import FunctionsSpec


def most_frequent(counts: Mapping[bytes, int], spec: FunctionsSpec) -> pd.DataFrame:
    """The most frequent functions f, by rank, in hexadecimal, with an estimate of P(f).

    Equally frequent functions are in the order of their bits. Some of the last functions are in the
    list by chance: their estimates are slightly too high.
    """
    if len(counts) < spec.count:
        raise FlatlasError(
            f"realizations is {spec.count}, with a function for each, but only {len(counts)} "
            f"functions occurred more than once in {spec.draws} random nets. Choose at most "
            f"{len(counts)}, or increase data.functions.draws."
        )
    first = sorted(counts, key=lambda function: (-counts[function], function))[: spec.count]
    count = np.array([counts[function] for function in first])
    probability = count / spec.draws
    return pd.DataFrame(
        {
            "rank": np.arange(1, spec.count + 1),
            "function": [function.hex() for function in first],
            "count": count,
            "draws": spec.draws,
            "probability": probability,
            "standard_error": np.sqrt(probability * (1 - probability) / spec.draws),
        }
    )


def label_by(functions: pd.DataFrame, inputs: int) -> pd.DataFrame:
    """A sample table in which each seed has all inputs, labelled by the function of its rank."""
    draws = []
    for seed, function in enumerate(functions["function"]):
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(function), np.uint8), count=inputs)
        index, labels = np.arange(inputs), bits.astype(np.int64)
        draws += [sample_rows(seed, part, index, labels) for part in ("train", "test")]
    return pd.concat(draws, ignore_index=True)
