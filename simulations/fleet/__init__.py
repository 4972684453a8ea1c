"""Many machines in place of one: the same work as `simulations.workers` does, over Spark, and its rows in Parquet.

pyspark and pyarrow are of the pipeline's extra, and imported only where a fleet or a table is asked for.
"""
