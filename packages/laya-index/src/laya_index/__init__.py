"""The index clock of Laya's retrieval toolkit: documents in, a reproducible Parquet bundle out."""
