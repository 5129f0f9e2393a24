"""Whether a spectral norm is known, whatever else its search has found or has not."""

import pandas as pd

# An eigenvalue lies within the residual of the one that was found. This share of it is near.
KNOWN = 0.01


def known(table: pd.DataFrame) -> pd.Series:
    """Of each row of a table of norms; NaN where nothing was measured."""
    share = table["spectral_norm_residual"].astype(float) / table["spectral_norm"].astype(float)
    return share.le(KNOWN).astype(object).where(share.notna())
