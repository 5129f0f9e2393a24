"""The limit below which a value is round-off, for figures and claims alike."""

# Below this fraction of a net's largest, an eigenvalue or a deviation is round-off of zero.
ROUND_OFF = 1e-12
