"""From a query and a backend to the final candidates."""
