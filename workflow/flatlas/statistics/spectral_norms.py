"""Whether a spectral norm is known, even if the rest of its search has not converged."""

import pandas as pd

# An exact eigenvalue is within the residual of the one found; a residual up to this share is small.
KNOWN = 0.01


def known(table: pd.DataFrame) -> pd.Series:
    """Whether the norm of each row of a table is known; NaN if nothing was measured."""
    norms = table.reindex(columns=["spectral_norm", "spectral_norm_residual"]).astype(float)
    share = norms["spectral_norm_residual"] / norms["spectral_norm"]
    return share.le(KNOWN).astype(object).where(share.notna())
