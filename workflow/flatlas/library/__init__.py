"""Measures of any torch model: `measure` takes them; `measures` has a module for each."""
