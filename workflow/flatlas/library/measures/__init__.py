"""The measures, a module each; its function `measure` says what it returns and its options."""
