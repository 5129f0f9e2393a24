"""Figures on the preprint on weight norm, L2 and flatness (Granziol 2020): one a module."""
