"""Figures of the paper on priors and flatness (Zhang, Reid, Valle-Pérez, Louis), and its claims."""
