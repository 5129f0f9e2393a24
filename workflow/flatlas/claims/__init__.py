"""Claims: a number, a criterion, a verdict, and the arrays that they come from. No torch."""
