"""The ends of the spectrum, trace and Frobenius norm of a matrix given by its products."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from flatlas.hessian.complete import complete_search
from flatlas.hessian.hutchinson import deflated, is_accurate
from flatlas.hessian.lanczos import Product
from flatlas.hessian.round_off import with_round_off
from flatlas.hessian.sampled import Sampled
from flatlas.library.found import Quantity
from flatlas.library.options import OfSpectrum
from flatlas.models.objective import Objective


@dataclass(frozen=True)
class Curvature:
    """The largest `eigenvalues` in descending order, the `lowest` in ascending, trace and norm.

    An error bounds the distance to the exact eigenvalue of the same rank, also among equal ones; of
    one that is alone at its end it may be larger than the tolerance. A residual is |Hv − λv|, at
    least the round-off of the products. An eigenvalue has converged if its residual is at most the
    `tolerance` times the largest |λ|; `converged` says whether all have, `precise` whether products
    are as accurate as that, `sampled` whether the trace is as accurate as requested. `iterations`
    counts the products of the search. Without probes there is neither trace nor norm.
    """

    eigenvalues: np.ndarray
    residuals: np.ndarray
    errors: np.ndarray
    lowest: np.ndarray
    lowest_residuals: np.ndarray
    lowest_errors: np.ndarray
    trace: Sampled | None
    frobenius: Sampled | None
    tolerance: float
    iterations: int
    converged: bool
    precise: bool
    sampled: bool

    def quantities(self) -> Mapping[str, Quantity]:
        """The eigenvalues by rank, and with probes trace and norm."""
        found = {
            **self._ranked("eigenvalue", self.eigenvalues, self.errors, self.residuals),
            **self._ranked("lowest", self.lowest, self.lowest_errors, self.lowest_residuals),
        }
        if self.trace is not None and self.frobenius is not None:
            found["trace"] = Quantity.of(self.trace, self.sampled)
            found["frobenius"] = Quantity.of(self.frobenius, self.precise)
        return found

    def _ranked(
        self, name: str, values: np.ndarray, errors: np.ndarray, residuals: np.ndarray
    ) -> dict[str, Quantity]:
        converged = residuals <= self.tolerance * np.abs([*self.eigenvalues, *self.lowest]).max()
        rows = zip(values.tolist(), errors.tolist(), converged.tolist(), strict=True)
        return {f"{name}_{rank}": Quantity(*row) for rank, row in enumerate(rows, start=1)}


def curvature(
    objective: Objective, product: Product, options: OfSpectrum, generator: torch.Generator
) -> Curvature:
    """The curvature of a symmetric matrix with a row for each weight, given by its `product`."""
    found, subspace = complete_search(
        product,
        objective.size,
        options.top,
        generator,
        options.tolerance,
        objective.dtype,
        options.bottom,
        options.steps,
    )
    trace = frobenius = None
    if options.probes:
        trace, frobenius = deflated(
            product, subspace, options.probes, generator, options.trace_tolerance
        )
    round_off = objective.round_off()
    found = with_round_off(found, round_off, options.tolerance)
    precise = round_off <= options.tolerance
    return Curvature(
        eigenvalues=found.top.cpu().numpy(),
        residuals=found.top_residuals.cpu().numpy(),
        errors=found.top_errors.cpu().numpy(),
        lowest=found.bottom.cpu().numpy(),
        lowest_residuals=found.bottom_residuals.cpu().numpy(),
        lowest_errors=found.bottom_errors.cpu().numpy(),
        trace=trace,
        frobenius=frobenius,
        tolerance=options.tolerance,
        iterations=found.iterations,
        converged=found.converged,
        precise=precise,
        sampled=trace is None or (precise and is_accurate(trace, options.trace_tolerance)),
    )
