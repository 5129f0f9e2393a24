"""Figures on the post about the generalization mystery (inFERENCe, 2018)."""
