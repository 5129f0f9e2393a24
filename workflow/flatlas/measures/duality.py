"""The activity-weight duality of one dense layer: the gap, direction by direction (§2.2)."""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.measures.curvature import fisher, hessian
from flatlas.measures.dual_weights import dual_shift, gradient_scale, vanishing
from flatlas.measures.partners import Partners, nearest_partners
from flatlas.measures.solution import Solution

def measure(solution, options):
    layer = options["layer"]
    weight = solution.parameters[f"{solution.net.dense(layer).name}.weight"][0]
    clean=solution.clean[0].nonzero().flatten()
    p = nearest_partners(solution.test_inputs[0].flatten(1), solution.test_labels[0], solution.inputs[0][clean].flatten(1), solution.labels[0][clean])
    from flatlas.nets.loss import sample_losses
    a=solution.into(layer, solution.inputs); at=solution.into(layer, solution.test_inputs)
    lt=sample_losses(solution.onward(layer,solution.preactivation(layer,at)),solution.test_labels)[0]
    l=sample_losses(solution.onward(layer,solution.preactivation(layer,a)),solution.labels)[0]
    pa=a[0][clean[p.train]]; pt=at[0][p.test]
    gap=lt[p.test]-l[clean[p.train]]
    sh=dual_shift(weight,pa,pt); z=vanishing(sh,weight); sc=gradient_scale(sh,gap,z)
    H={"hessian":hessian,"fisher":fisher}[options["directions"]](solution,layer,a)
    lam,V=torch.linalg.eigh(H)
    w=sh.flatten(1)@V; g=sc[:,None]*w
    mw,mg=w.mean(0),g.mean(0)
    sw,sg=w.std(0,correction=0),g.std(0,correction=0)
    cov=((w-mw)*(g-mg)).mean(0)
    o=sg.argsort(descending=True)
    d=DataFrame({k:v[o].numpy() for k,v in dict(eigenvalue=lam,sigma_g=sg,sigma_w=sw,gap=cov,gap_mu=mw*mg).items()})
    return {"directions":d,"summary":dict(gap=gap.mean().item(),total=(d.gap+d.gap_mu).sum(),l=l.mean().item(),lt=lt.mean().item(),zero=int(z.sum()))}
