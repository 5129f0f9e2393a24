"""The measures: what a study may set of each, which tables it writes and what it needs."""
