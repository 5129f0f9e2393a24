"""What every script does around its one library call: log, progress, failure in a sentence."""
