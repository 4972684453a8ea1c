"""Messages that only brokers serve, or that only ZooKeeper's time had: for captures, guides and tests."""
