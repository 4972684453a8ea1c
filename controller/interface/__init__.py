"""The types that the state machine and its handlers take and return: inputs, environment, results, effects."""
