"""The studies, a folder each: one module per figure draws it and judges its claims. No torch."""
