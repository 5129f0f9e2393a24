"""The figures: one file a study, drawn from tables alone, in one style. Imports no torch."""
