"""The explorer: all networks, measures and claims on one page, to choose from and to look into."""
