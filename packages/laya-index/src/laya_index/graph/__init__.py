"""The graph of a corpus: which entities occur, which occur together, and where."""
