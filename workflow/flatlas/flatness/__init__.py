"""Measures of flatness of a function of w: of a user's model and of the workflow's networks alike."""
