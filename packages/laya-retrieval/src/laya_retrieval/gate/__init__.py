"""Gates: keep what is relevant, and say whether it answers."""
