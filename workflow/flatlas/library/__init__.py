"""Measures of anybody's model: `measure` takes them, one module each in `measures`."""
