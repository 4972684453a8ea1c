"""Log directories without a running node: reading their batches and records, their image, formatting them."""
