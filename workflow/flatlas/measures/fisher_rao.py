"""The squared Fisher-Rao norm wᵀ F w (Liang et al. 2019): the weights in units of the function.

F is the Fisher matrix of the network's own predictions, as in `hessian/fisher.py`; for cross-
entropy it is the Gauss-Newton matrix. So the norm is the mean over images of (J w)ᵀ S J w, with the
derivative J w of the logits along w.
"""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame
from torch.func import jvp

from flatlas.hessian import softmax
from flatlas.hessian.fisher import IMAGES, Predictions
from flatlas.hessian.layers import differentiable_layers
from flatlas.hessian.loss import flattened
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution


@torch.no_grad()
def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row, of all weights and biases on S."""
    solution = on_clean(solution)
    (w,) = flattened(solution.net, solution.parameters)
    images, total = solution.inputs.squeeze(0), 0.0
    for some in Predictions(solution.net, images).split(IMAGES):
        with differentiable_layers():
            logits, along = jvp(some, (w,), (w,))[:2]
        seen = softmax.root(logits.double(), len(images)) @ along.double().unsqueeze(-1)
        total += seen.square().sum().item()
    return {"summary": DataFrame([{"fisher_rao": total}])}
