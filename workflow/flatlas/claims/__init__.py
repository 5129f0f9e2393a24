"""Claims: a number, a criterion and a verdict, and the arrays they are computed from. No torch."""
