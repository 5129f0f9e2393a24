"""Figures on the preprint about weight norm, L2 and flatness (Granziol, 2020)."""
