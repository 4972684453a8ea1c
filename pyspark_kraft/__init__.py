"""Where Spark finds the format `kraft_metadata`: at a first look-up it imports each package named `pyspark_…`."""

from pipeline.source.spark import KraftMetadataSource as DefaultSource

__all__ = ["DefaultSource"]
