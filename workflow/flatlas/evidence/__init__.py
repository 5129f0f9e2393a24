"""The material of figures and claims: everything measured of some runs, side by side."""
