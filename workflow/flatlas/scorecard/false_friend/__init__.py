"""What the preprint on weight norm, L2 and flatness claims (Granziol 2020), figure by figure."""
