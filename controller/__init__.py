"""The quorum controller (KIP-631): a core without IO that replays `__cluster_metadata` and serves the controller's APIs."""
