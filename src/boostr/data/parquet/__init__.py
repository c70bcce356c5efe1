"""Event histories and sensors in Parquet files, read in chunks."""
