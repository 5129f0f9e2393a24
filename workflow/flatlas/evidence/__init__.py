"""What figures show and claims are judged by: everything measured of some runs, side by side."""
