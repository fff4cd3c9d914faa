"""Studies: what the documentation claims, measured on judged data sets that the user names."""
