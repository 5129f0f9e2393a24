"""Results on disk: arrays, tables, provenance; a file is never half written."""
