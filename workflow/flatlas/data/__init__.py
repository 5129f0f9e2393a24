"""Images and which of them a realization sees: sources, subsets, attack sets, label noise."""
