"""TLS and SASL of the listeners and of the node's own connections, from the configuration."""
