"""Graph sources: who neighbours whom."""
