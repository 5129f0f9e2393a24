"""Measures of flatness of a function of w, for users' models and the workflow's networks."""
