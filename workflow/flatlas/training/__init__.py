"""Training: stacks of small nets, optimizers by name, and a record of every outcome."""
