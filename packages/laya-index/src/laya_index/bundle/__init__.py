"""The bundle: a folder of Parquet files and a manifest, the contract between the clocks."""
