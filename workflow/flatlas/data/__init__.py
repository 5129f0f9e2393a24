"""Images, and those that each realization uses: sources, subsets, attack sets, label noise."""
