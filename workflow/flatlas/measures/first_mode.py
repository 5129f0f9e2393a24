"""How the outputs change with a step along the first principal direction p_1 (Eq. S3, Fig. S2A).

ΔY_k = Y_{k,n(k)} − Y_{k,m(k)} is how far the output of the right class n(k) of image k exceeds the
largest wrong one, m(k). The paper finds it linear in the step θ_1.
"""

from collections.abc import Mapping
from math import e
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.margin import margin
from flatlas.measures.landscape import interval, mirrored
from flatlas.measures.principal import principal_of
from flatlas.measures.solution import Solution
from flatlas.measures.tables import table_of

# The number of steps, evenly spaced over the valley of the training loss.
STEPS = 41


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`margins` has ΔY(θ_1) for each class: the mean over its first `images` training images.

    The valley along p_1 ends where the loss of all images has grown by a factor e. If one side has
    no such end, the valley is symmetric.
    """
    layer = options["layer"]
    direction = principal_of(solution, layer, 1).matrices(solution.net.dense(layer).fans)
    activity = solution.into(layer, solution.inputs)
    left, right = interval(solution, layer, activity, direction, e)
    low, high = mirrored(left, right)
    theta = torch.linspace(low.item(), high.item(), STEPS, dtype=activity.dtype)
    chosen = _first_of_each_class(solution.labels[0], options["images"])
    seen, labels = activity[:, chosen], solution.labels[0, chosen]
    z, change = solution.preactivation(layer, seen), seen @ direction
    moved = [solution.logits_from(layer, z + step * change)[0] for step in theta.tolist()]
    rows = margin(torch.stack(moved), labels.expand(STEPS, -1))
    known = labels.unique()
    means = torch.stack([rows[:, labels == label].mean(1) for label in known])
    columns = {
        "label": known.unsqueeze(1).expand_as(means),
        "theta": theta.to(means).expand_as(means),
        "margin": means,
    }
    return {"margins": table_of(columns)}


def _first_of_each_class(labels: Tensor, count: int) -> Tensor:
    return torch.cat([(labels == one).nonzero().flatten()[:count] for one in labels.unique()])
