"""The messages and records of Kafka's protocol and metadata log, as values; see DESIGN.md."""
