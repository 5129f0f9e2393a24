"""The numbers on the page of the user's networks, and how to read them."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from flatlas.evidence.material import NET, Material

# What the study's sweep varies: the file of a network's weights.
WEIGHTS = "net.weights"


@dataclass(frozen=True)
class Quantity:
    """A number of a network: its words, its symbol, the measure that has it, how to read it.

    Its reading may name options of the measure in braces.
    `error` is the column of its standard error or residual, if it has one. `percent` is how pages
    write it.
    """

    words: str
    symbol: str
    measure: str
    reading: str
    error: str = ""
    percent: bool = False


ACCURACY = {
    "train_error": Quantity("wrong training images", "", "history", "", percent=True),
    "test_error": Quantity("wrong test images", "", "history", "", percent=True),
    "train_loss": Quantity("training loss", "L", "history", ""),
    "test_loss": Quantity("test loss", "", "history", ""),
}

MEASURES = {
    "sharpness": Quantity(
        "sharpness",
        "100 · rise / (1 + L)",
        "sharpness",
        "How far the training loss L rises at worst if every weight moves by at most "
        "{box:g} (|w| + 1). A search found it, so it is a lower bound.",
    ),
    "first_order": Quantity(
        "its first-order part",
        "",
        "sharpness",
        "The rise that the gradient alone predicts. If it is most of the sharpness, that says how "
        "far the loss still had to fall, not how curved it is.",
    ),
    "gradient_norm": Quantity(
        "gradient norm",
        "‖g‖",
        "norms",
        "Zero at a minimum. If it is large, the training ended early, or the network sees other "
        "images than in its training.",
    ),
    "spectral_norm": Quantity(
        "largest curvature",
        "‖H‖ (spectral)",
        "hessian",
        "The largest |λ| of the Hessian. If that λ is positive, gradient descent with a "
        "learning rate above 2 / ‖H‖ moves away along its eigenvector; if it is negative, the "
        "network is at no minimum.",
        error="spectral_norm_residual",
    ),
    "trace": Quantity(
        "total curvature",
        "tr H",
        "hessian",
        "The sum of all eigenvalues. It grows with the number of weights.",
        error="trace_error",
    ),
    "frobenius": Quantity(
        "Frobenius norm",
        "‖H‖ (Frobenius)",
        "hessian",
        "The root of the sum of all squared eigenvalues: near the largest curvature if few "
        "directions are sharp.",
        error="frobenius_error",
    ),
    "dual_gap": Quantity(
        "duality gap",
        "ΔL",
        "duality",
        "How much larger the loss of a test image is, on average, than that of the most similar "
        "training image of its class, up to the µ-term. It is a sum over directions of the layer "
        "{layer}: how sharp each is, times how far apart the images are along it.",
    ),
    "mu_gap": Quantity(
        "its µ-term",
        "ΔL_µ",
        "duality",
        "The products of means, which ΔL leaves out. ΔL and the µ-term add up to the difference "
        "of the losses.",
    ),
    "T_g": Quantity(
        "total sharpness of duality",
        "T_g",
        "duality",
        "The sum of squared sharpnesses over directions; it knows the losses of test images.",
    ),
    "T_w": Quantity(
        "total size of duality",
        "T_w",
        "duality",
        "How far the weights of the layer {layer} would have to move for training images to act "
        "like test images.",
    ),
    "weight_norm": Quantity(
        "weight norm",
        "‖w‖",
        "norms",
        "The norm of all weights and biases. Rescaling layers can change it, although the function "
        "stays the same. This also changes the sharpness, its first-order part, the gradient "
        "norm, the trace and the norms of the Hessian, T_g and T_w, but neither ΔL nor ΔL_µ. "
        "Rescaling single neurons can change ΔL and ΔL_µ as well, but not their sum.",
    ),
}


def readable(options: Mapping[str, Mapping[str, Any]]) -> dict[str, Quantity]:
    """The quantities of the measures taken with these options, which their readings name."""
    return {
        name: replace(quantity, reading=quantity.reading.format_map(options[quantity.measure]))
        for name, quantity in MEASURES.items()
        if quantity.measure in options
    }


def accuracy(material: Material, images: Mapping[str, int]) -> pd.DataFrame:
    """Errors and losses of each network, as rows like those of `measured`.

    Standard errors are those of independent images, so many `images` of each part, with two right
    and two wrong ones added.
    """
    ends = material.trainings[[*NET, "epoch"]]
    history = material.tables["history"].merge(ends, on=[*NET, "epoch"]).drop_duplicates(NET)
    return pd.DataFrame(
        [
            _row(net, name, _of_a_share(net[name], images[part]) if kind == "error" else np.nan)
            for name in ACCURACY
            for part, _, kind in [name.partition("_")]
            for net in history.to_dict("records")
        ]
    )


def _of_a_share(share: float, count: int) -> float:
    """The standard error of a share of `count` images."""
    shrunk = (share * count + 2) / (count + 4)
    return float(np.sqrt(shrunk * (1 - shrunk) / (count + 4)))


def measured(material: Material) -> pd.DataFrame:
    """A row for each quantity and network: value, error (NaN if it has none), `settled`."""
    return pd.DataFrame([row for name in MEASURES for row in _rows(material, name)])


def _rows(material: Material, name: str) -> Iterator[dict[str, object]]:
    """A row for each network; none if the measure is not taken."""
    quantity = MEASURES[name]
    table = material.tables.get(f"{quantity.measure}_summary", pd.DataFrame())
    for net in table.to_dict("records"):
        error = net[quantity.error] if quantity.error else np.nan
        yield _row(net, name, error)


def _row(net: Mapping[Hashable, Any], name: str, error: float) -> dict[str, object]:
    # Only searches may fail. A table of a measure says so in `converged`; the history has none.
    settled = net.get("converged", True)
    labels = {WEIGHTS: net[WEIGHTS], "seed": net["seed"], "quantity": name}
    return labels | {"value": net[name], "error": error, "settled": settled}
