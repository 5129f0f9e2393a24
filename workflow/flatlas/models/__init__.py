"""Anybody's model: a torch module, a loss and batches as one function of a vector of weights."""
