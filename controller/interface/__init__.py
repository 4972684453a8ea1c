"""What the state machine and its handlers are given, and what they give back: inputs, environment, results, effects."""
