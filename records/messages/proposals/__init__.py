"""Messages that KIPs proposed and Kafka never had."""
