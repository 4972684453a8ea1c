"""The wire level of the oracle: a stock controller and one of ours receive the same bytes over sockets."""
