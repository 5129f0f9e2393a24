"""Results on disk: arrays, tables and their provenance, all written atomically."""
