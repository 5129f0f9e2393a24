"""Measures of anybody's model: one module each, and `measure`, which takes them."""
