"""The verbs that ask and change a running quorum."""
