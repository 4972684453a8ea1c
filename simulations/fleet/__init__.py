"""Runs on a Spark cluster: the work of `simulations.running.workers` over Spark, and its rows in Parquet.

pyspark and pyarrow are of the pipeline's extra, and imported only if a fleet or a table is requested.
"""
