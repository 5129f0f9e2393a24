"""The ends of a spectrum with all copies of repeated eigenvalues, in bounded memory.

Lanczos from one vector finds each eigenvalue once: a Krylov space has one vector of each
eigenspace, and all others are orthogonal to the whole space. So the search continues from a random
vector that is orthogonal to what was found, chain by chain, until a chain shows that no eigenvalue
is missing among those that were found.
"""

from dataclasses import replace
from itertools import compress
from math import inf, pi

import torch
from torch import Tensor

from flatlas.hessian.lanczos import Product, Spectrum, Subspace, orthonormal, random_rows

# The default limits on products: STEPS for each eigenvalue, and at least FEW in total.
STEPS, FEW = 30, 100
# Vectors in memory beyond two for each eigenvalue.
ROOM = 40
# A restart also keeps this many eigenvectors next to the requested ones of each end.
NEXT = 5
# A new chain begins when residuals are at most this share of the tolerance. Later they grow a
# little, because a new chain does not improve their vectors.
AMPLE = 0.9
# The largest probability with which a chain overlooks an eigenvalue.
RISK = 1e-3
# An end with one eigenvalue, or with equal ones, is checked by further products: at most this share
# of those of the search so far, or this number if that is larger.
MORE, AT_LEAST = 0.5, 5
# How often the slack of an end is halved at most.
HALVINGS = 30
# Columns of a basis that are replaced together, which bounds the memory for it.
COLUMNS = 2**16


class _Chains(Subspace):
    """A subspace that grows in chains of vectors, and can shrink without new products."""

    def __init__(
        self, product: Product, size: int, most: int, device: torch.device, dtype: torch.dtype
    ) -> None:
        super().__init__(product, size, most, device, dtype)
        # A row for each vector that was left when a chain ended: its shares in the products of the
        # basis.
        self._lost = torch.zeros(0, most, dtype=torch.float64, device=device)
        self._start()

    def _start(self) -> None:
        self._first, self._length = self.size, 0.0
        self._gone = torch.zeros(0, dtype=torch.float64, device=self._basis.device)

    @property
    def chain(self) -> Tensor:
        """The matrix in the basis of the current chain."""
        return self.projected[self._first :, self._first :]

    def add(self, fresh: Tensor) -> Tensor:
        """Add the next vector of the chain, as in `Subspace`."""
        left = super().add(fresh)
        self._length += left.norm().log().item()
        return left

    def residuals(self, vectors: Tensor, left: Tensor) -> Tensor:
        """Bounds on |Hv − θv| for Ritz vectors (columns), if `left` is what the last step left."""
        return self.lost(vectors) + left.norm() * vectors[-1].abs()

    def lost(self, vectors: Tensor) -> Tensor:
        """The part of these bounds from earlier chains, which later steps do not make smaller."""
        lost = self._lost[:, : self.size] @ vectors
        if self.size == self._basis.shape[1]:
            # Nothing is outside the whole space.
            lost.zero_()
        return lost.abs().sum(0)

    def begin(self, vectors: Tensor, left: Tensor, top: int, bottom: int) -> None:
        """Keep only so many Ritz vectors (columns) of both ends, for a new chain.

        What was `left` is lost.
        """
        lost = self._keep(vectors[:, _outer(vectors, top, bottom)], left)
        self._lost = torch.nn.functional.pad(lost, (0, len(self._basis) - self.size))
        self._start()

    def shrink(self, left: Tensor, top: int, bottom: int) -> None:
        """Keep only so many Ritz vectors of both ends of the chain, which goes on with `left`."""
        values, own = torch.linalg.eigh(self.chain)
        kept = _outer(own, top, bottom)
        self._gone = torch.cat([self._gone, values[~kept]])
        before = torch.eye(self._first, dtype=own.dtype, device=own.device)
        lost = self._keep(torch.block_diag(before, own[:, kept]), left)[:-1]
        self._lost = torch.nn.functional.pad(lost, (0, len(self._basis) - self.size))

    def _keep(self, vectors: Tensor, left: Tensor) -> Tensor:
        """Replace the basis; return the parts of the products outside it, `left` as the last."""
        kept, images = vectors.shape[1], self.projected @ vectors
        outside = torch.cat([self._lost[:, : self.size] @ vectors, left.norm() * vectors[-1:]])
        self.squared = (images.square().sum() + outside.square().sum()).item()
        for part in self._basis.split(COLUMNS, dim=1):
            part[:kept] = vectors.T.to(part) @ part[: self.size]
        self._projected.zero_()
        self._projected[:kept, :kept] = vectors.T @ images
        self._begin = self.size = kept
        return outside

    def share_of_missing(self, sign: int, known: Tensor, slack: float) -> float:
        """The largest part of the chain's first vector that a missing eigenvector can have.

        At the upper end of the matrix times `sign`: only eigenvalues that are further out than the
        last `known` one, by the slack or more, count as missing. The part is inf if the chain
        itself has such an eigenvalue.

        After j steps the next vector of a chain is p(H)v / Πβ, with p(t) = Π (t − θ), and has
        length 1. So no eigenvector of t has a larger part in v than Πβ / |p(t)|. If the chain has
        shrunk, p also has the zeros that are gone (Sorensen 1992).
        """
        threshold, zeros = known[-1] + slack, sign * torch.linalg.eigvalsh(self.chain)
        if zeros.max() > threshold:
            return inf
        if self._length == -inf:
            # The chain has all eigenvectors of which its first vector has a part.
            return 0.0
        away = threshold - torch.cat([zeros, sign * self._gone])
        return float((self._length - away.abs().log().sum()).exp())


def _outer(vectors: Tensor, top: int, bottom: int) -> Tensor:
    """Which columns are the last `top` or the first `bottom` ones."""
    places = torch.arange(vectors.shape[1], device=vectors.device)
    return (places < bottom) | (places >= len(places) - top)


def vectors_held(top: int, bottom: int) -> int:
    """The largest number of vectors that a search keeps."""
    return 2 * (top + bottom) + ROOM


@torch.no_grad()
def complete_search(
    product: Product,
    size: int,
    top: int,
    generator: torch.Generator,
    tolerance: float,
    dtype: torch.dtype,
    bottom: int = 1,
    steps: int | None = None,
) -> tuple[Spectrum, Subspace]:
    """The `top` largest and `bottom` lowest eigenvalues, or all there are, of (size, size).

    The search takes at most `steps` products for each but one of them. By default the limit is 30
    for each, but not below 100 in total. `product` multiplies a row of this `dtype`. An eigenvalue
    has converged if its residual is at most `tolerance` times the largest |λ|. If the search ended
    early, copies of eigenvalues further out may be missing: a residual is then at least the
    distance to the outermost eigenvalue. An end with one eigenvalue, or with several that are equal
    to within the tolerance, is tested for others further out as long as this makes the search at
    most half as long again; errors allow for what is then not excluded. The subspace is the
    searched one, or the best part of it.
    """
    top, bottom = min(top, size), min(bottom, size)
    others = max(1, top + bottom - 1)
    allowed = max(top, steps * others if steps else max(FEW, STEPS * others))
    most = min(size, allowed, vectors_held(top, bottom))
    risk = RISK * (pi / 2 / size) ** 0.5
    kept = top + NEXT, bottom and bottom + NEXT
    space = _Chains(product, size, most, generator.device, dtype)
    fresh, taken, known, ample = random_rows(space.basis, 1, generator), 0, None, AMPLE
    limit = allowed
    while True:
        left, taken = space.add(fresh), taken + 1
        values, vectors = torch.linalg.eigh(space.projected)
        now = _spectrum(values, space.residuals(vectors, left), top, bottom, tolerance, taken)
        if space.size == size:
            return now, space
        # The last chain tests whether the spectrum at its start lacks an eigenvalue.
        tested, shares = known or now, []
        if not tested.converged:
            limit = allowed
        if tested.converged or taken == allowed:
            slack = tolerance * _size(tested)
            shares = _shares_of_missing(space, now, tested, slack)
            wide = [_is_wide(end, slack) for _, end in _outwards(tested)]
            if inf in shares:
                limit = allowed
            elif max(compress(shares, wide), default=0) < risk:
                limit = min(limit, taken + max(AT_LEAST, int(MORE * taken)))
            if taken == limit or (tested.converged and max(shares) < risk):
                best = replace(now if inf in shares else tested, iterations=taken)
                return _with_slacks(space, best, tolerance, risk), space
        enough = ample * tolerance * _size(now)
        if inf in shares and _largest(now) <= enough:
            space.begin(vectors, left, *kept)
            fresh, known = random_rows(space.basis, 1, generator), now
        elif inf in shares and 2 * taken <= allowed and _is_stuck(now, space.lost(vectors), enough):
            # An earlier chain ended with a mixture of eigenvectors that it took for one.
            space, ample = _Chains(product, size, most, generator.device, dtype), ample / 10
            fresh, known = random_rows(space.basis, 1, generator), None
        else:
            fresh = orthonormal(left, space, generator)
            if space.size == most:
                space.shrink(left, *kept)


def _spectrum(
    values: Tensor, residuals: Tensor, top: int, bottom: int, tolerance: float, taken: int
) -> Spectrum:
    high, low = _ends(values, top, bottom)
    of_high, of_low = _ends(residuals, top, bottom)
    found = Spectrum(high, of_high, low, of_low, taken, converged=False)
    is_accurate = _largest(found) <= tolerance * _size(found)
    return replace(found, converged=is_accurate and len(values) >= max(top, bottom))


def _ends(ascending: Tensor, top: int, bottom: int) -> tuple[Tensor, Tensor]:
    """The numbers of the `top` largest eigenvalues, in descending order, and of the lowest."""
    return ascending.flip(0)[:top], ascending[:bottom]


def _is_stuck(now: Spectrum, lost: Tensor, enough: float) -> bool:
    """Whether what earlier chains `lost` keeps the residuals above `enough`."""
    most = torch.cat(_ends(lost, len(now.top), len(now.bottom))).max().item()
    return most > enough and _largest(now) <= 2 * most


def _shares_of_missing(
    space: _Chains, now: Spectrum, tested: Spectrum, slack: float
) -> list[float]:
    """`share_of_missing` at both ends; infinite if the last chain found a missing eigenvalue."""
    if _further_out(now, tested, slack):
        return [inf, inf]
    return [
        space.share_of_missing(sign, known, slack) if len(known) else 0.0
        for sign, known in _outwards(tested)
    ]


def _outwards(of: Spectrum) -> tuple[tuple[int, Tensor], tuple[int, Tensor]]:
    """The sign of each end, and its eigenvalues times that, in descending order."""
    return (1, of.top), (-1, -of.bottom)


def _is_wide(known: Tensor, slack: float) -> bool:
    """Whether an end has an eigenvalue further out than its last one, by more than the slack."""
    return bool((known > known[-1:] + slack).any())


def _with_slacks(space: _Chains, found: Spectrum, tolerance: float, risk: float) -> Spectrum:
    """The spectrum with what the last chain does not exclude at each end."""
    most = tolerance * _size(found)
    (up, high), (down, low) = _outwards(found)
    of_high, high_slack = _with_missing(space, up, high, found.top_residuals, most, risk)
    of_low, low_slack = _with_missing(space, down, low, found.bottom_residuals, most, risk)
    found = replace(found, top_residuals=of_high, top_slack=high_slack)
    found = replace(found, bottom_residuals=of_low, bottom_slack=low_slack)
    return replace(found, converged=_largest(found) <= most)


def _with_missing(
    space: _Chains, sign: int, known: Tensor, residuals: Tensor, most: float, risk: float
) -> tuple[Tensor, Tensor]:
    """The residuals of one end, and how much further out the eigenvalue of each rank may be."""
    if not len(known):
        return residuals, residuals
    if _is_wide(known, most) and space.share_of_missing(sign, known, most) >= risk:
        # Copies of the outermost eigenvalue may be missing.
        residuals, known = residuals.maximum(known[0] - known), known[:1].expand(len(known))
    slack = _least_slack(space, sign, known, most, risk)
    return residuals, (slack - (known - known[-1:])).clamp_min(0)


def _least_slack(space: _Chains, sign: int, known: Tensor, most: float, risk: float) -> float:
    """The least slack, `most` times a power of two, at which the last chain finds an end complete.

    It is `most` or less if `most` is enough.
    """
    slack = most
    while space.share_of_missing(sign, known, slack) >= risk:
        slack *= 2
    for _ in range(HALVINGS):
        if slack > most or space.share_of_missing(sign, known, slack / 2) >= risk:
            break
        slack /= 2
    return slack


def _further_out(now: Spectrum, tested: Spectrum, slack: float) -> bool:
    """Whether `tested` lacks an eigenvalue, since `now` has one further out (never too far out)."""
    top = now.top[: len(tested.top)] > tested.top + slack
    bottom = now.bottom[: len(tested.bottom)] < tested.bottom - slack
    return bool(top.any() or bottom.any())


def _size(of: Spectrum) -> float:
    return torch.cat([of.top, of.bottom]).abs().max().item()


def _largest(of: Spectrum) -> float:
    return torch.cat([of.top_residuals, of.bottom_residuals]).max().item()
