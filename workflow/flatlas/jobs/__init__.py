"""What every script does around its library call: logging, progress, one-sentence failures."""
