"""How much faster than the plain way: ratios, not seconds. Run by `make bench`."""
