"""Statistics of what was measured: estimates with intervals, correlations. No torch."""
