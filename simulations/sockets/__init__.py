"""The level of the whole node: real listeners, frames and channels, on a simulated event loop and simulated TCP."""
