"""What two releases of stock Kafka say of themselves, compared."""
