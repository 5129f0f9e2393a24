"""The measures, a module each; its function `measure` describes its result and its options."""
