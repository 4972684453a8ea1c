"""Keys, certificates and tokens: what TLS and SASL take from files and from providers, without a configuration."""
