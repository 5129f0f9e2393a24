"""The ends of the spectrum, trace and Frobenius norm of a matrix given by its products."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from pydantic import Field

from flatlas.hessian.hutchinson import Estimate, deflated
from flatlas.hessian.lanczos import Product, search
from flatlas.library.found import Quantity

# A standard error takes two.
Probes = Annotated[int, Field(ge=2)]


@dataclass(frozen=True)
class Curvature:
    """The largest `eigenvalues` in descending order, the `lowest`, trace and Frobenius norm.

    An exact eigenvalue is at most its residual away. `iterations` counts the products of the
    search; `converged` refers to all eigenvalues.
    """

    eigenvalues: np.ndarray
    residuals: np.ndarray
    lowest: Quantity
    trace: Estimate
    frobenius: Estimate
    iterations: int
    converged: bool

    def quantities(self) -> Mapping[str, Quantity]:
        """The eigenvalues by rank, and the rest."""
        pairs = zip(self.eigenvalues, self.residuals, strict=True)
        ranked = {
            f"eigenvalue_{rank}": Quantity(float(value), float(residual), self.converged)
            for rank, (value, residual) in enumerate(pairs, start=1)
        }
        return {
            **ranked,
            "lowest": self.lowest,
            "trace": Quantity(self.trace.value, self.trace.standard_error),
            "frobenius": Quantity(self.frobenius.value, self.frobenius.standard_error),
        }


def curvature(
    product: Product,
    size: int,
    top: int,
    probes: int,
    tolerance: float,
    generator: torch.Generator,
) -> Curvature:
    """The curvature of a symmetric matrix (size, size)."""
    found, subspace = search(product, size, top, generator, tolerance)
    trace, frobenius = deflated(product, subspace, probes, generator)
    return Curvature(
        eigenvalues=found.top.cpu().numpy(),
        residuals=found.top_residuals.cpu().numpy(),
        lowest=Quantity(found.lowest, found.lowest_residual, found.converged),
        trace=trace,
        frobenius=frobenius,
        iterations=found.iterations,
        converged=found.converged,
    )
