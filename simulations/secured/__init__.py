"""The secured level: the node level with TLS, SASL, an authorizer, and clients without rights."""
