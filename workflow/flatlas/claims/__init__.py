"""What the papers claim, judged by numbers: a module a figure, and the verdicts. No torch."""
