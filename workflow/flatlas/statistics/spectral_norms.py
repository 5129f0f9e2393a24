"""Whether a spectral norm is known, even if the rest of its search has not converged."""

import pandas as pd

# An exact eigenvalue is within the residual of the one found; a residual up to this share is small.
KNOWN = 0.01


def known(table: pd.DataFrame) -> pd.Series:
    """Whether the norm of each row of a table is known; NaN if nothing was measured."""
    residual, norm = (
        table[name].astype(float) for name in ("spectral_norm_residual", "spectral_norm")
    )
    return residual.le(KNOWN * norm).astype(object).where(residual.notna() & norm.notna())
