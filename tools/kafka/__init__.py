"""The tools of Apache Kafka's names: with the texts and exit codes of Kafka's tool of that name."""
