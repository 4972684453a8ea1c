"""The tools that ask a running cluster, and Kafka's admin client as they need it."""
