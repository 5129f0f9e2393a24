"""The studies: a folder each, with a module a figure that draws it and judges its claims. No torch."""
