"""The explorer: one page on which a reader selects and inspects networks, measures and claims."""
