"""Many machines in place of one: the work of `simulations.running.workers` over Spark, and its rows in Parquet.

pyspark and pyarrow are of the pipeline's extra, and imported only where a fleet or a table is asked for.
"""
