"""Metadata logs as rows: finding them, decoding them in columns, and the data source for Spark."""
