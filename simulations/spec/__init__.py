"""KRaft as states and actions: all states of small worlds are searched over the real `raft.step`, and every run is
validated.
"""
