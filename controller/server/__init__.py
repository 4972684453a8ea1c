"""The start of a node, and its listeners besides the Kafka protocol: HTTP and gRPC."""
