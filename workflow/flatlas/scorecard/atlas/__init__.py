"""Claims of the study `atlas`: our own questions."""
