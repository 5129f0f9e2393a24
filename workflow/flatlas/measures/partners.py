"""The training partner of a solution's test images (§2.2)."""

import torch

from flatlas.flatness.partners import Partners, nearest_partners
from flatlas.measures.solution import Solution


def partners_of(solution: Solution) -> Partners:
    """Partners by pixel distance; a training image with a wrong label is never a partner."""
    return nearest_partners(
        solution.test_inputs.squeeze(0).flatten(1),
        solution.test_labels.squeeze(0),
        solution.inputs.squeeze(0).flatten(1),
        torch.where(solution.clean, solution.labels, -1).squeeze(0),
    )
