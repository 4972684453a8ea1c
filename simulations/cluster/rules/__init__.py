"""The rules of each request, written independently: what an active controller must write and answer in its state."""
