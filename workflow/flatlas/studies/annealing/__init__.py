"""Figures of the paper on self-tuned annealing (Feng, Tu), one per module."""
