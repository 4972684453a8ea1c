"""The reassignment planner: balances replicas over brokers and spreads them over racks, with the fewest moves.

Its core needs only numpy: it runs without Spark, on a million partitions as on ten.
"""
