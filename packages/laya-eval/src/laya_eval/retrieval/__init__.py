"""How well a corpus is searched: systems, their rankings, and a report of them."""
