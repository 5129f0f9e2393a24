"""The relative flatness of a dense layer (Petzka et al. 2021), in closed form: larger is sharper.

With the layer's pre-activations z = a W, its definition Σ over s, s' of ⟨w_s, w_s'⟩ tr H_ss' is the
mean over images of |a|² tr W C Wᵀ, where C = Jᵀ S J as in `curvature.py`. Rescaling whole layers of
a ReLU network, or single outputs of the layer, does not change it.
"""

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame

from flatlas.measures.clean import on_clean
from flatlas.measures.curvature import hessian_root
from flatlas.measures.solution import IMAGES, Solution


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row, for the loss on S and the `layer`: by default the last dense one."""
    solution, net = on_clean(solution), solution.net
    layer = net.dense(options.get("layer", net.dense_layers[-1].name)).name
    (weight,) = solution.parameters[f"{layer}.weight"]
    activity, total = solution.into(layer, solution.inputs), 0.0
    for a, labels in solution.blocks(activity, IMAGES):
        z = solution.preactivation(layer, a).requires_grad_()
        pulled = hessian_root(solution, layer, z, labels) @ weight.T
        total += (pulled.square().sum((0, 2)) @ a.squeeze(0).square().sum(1)).item()
    found = {"layer": layer, "relative_flatness": total / activity.shape[1]}
    return {"summary": DataFrame([found])}
