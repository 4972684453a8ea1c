"""The functions that encode and decode a message, generated from its class before their first use."""
