"""The style of all figures, their small print, and the picture of the plan. No torch."""
