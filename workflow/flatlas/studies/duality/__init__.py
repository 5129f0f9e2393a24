"""Figures of the activity-weight duality paper (Feng, Zhang & Tu), one per module."""
