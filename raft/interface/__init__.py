"""What a driver gives a replica and gets from it, and the values in it: configuration, voters, inputs, effects."""
