"""The committed metadata log of a cluster: the image that it gives, and the rules that its records follow."""
