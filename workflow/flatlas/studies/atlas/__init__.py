"""Figures of the study `atlas`: every measure on runs of all studies."""
