"""How a result lies on disk: arrays, tables, provenance; every write whole or not at all."""
