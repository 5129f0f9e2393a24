"""Figures of the study `atlas`: every measure on the same networks."""
