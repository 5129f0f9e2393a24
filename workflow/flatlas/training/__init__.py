"""Training: small nets stacked, each optimizer by its name, every outcome recorded."""
