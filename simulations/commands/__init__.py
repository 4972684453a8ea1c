"""The commands of `python -m simulations`, one module each."""
