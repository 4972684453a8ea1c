"""The quorum controller (KIP-631): a core without IO that replays the metadata log and serves the controller's APIs."""
