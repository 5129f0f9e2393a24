"""Jobs of Snakemake: their start, log, progress, and one-sentence failures."""
