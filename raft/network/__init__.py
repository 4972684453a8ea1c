"""Kafka's wire protocol on TCP: a server for requests, and one connection to each peer (see DESIGN.md)."""
