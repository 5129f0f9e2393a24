"""A user's torch module, loss and batches as one function of a vector of weights."""
