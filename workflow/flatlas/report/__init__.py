"""The pages that a reader opens: scorecards, the report, comparisons, and what figures cost."""
