"""The reassignment planner: where replicas should go so that brokers are even and racks hold, with the fewest moves.

Its core is numpy alone: it runs without Spark, on a million partitions as on ten.
"""
