"""Figures on the post on the generalization mystery (inFERENCe, 2018): one a module."""
