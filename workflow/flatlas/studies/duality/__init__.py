"""Figures of the activity-weight duality paper (Feng, Zhang & Tu): a module a figure."""
