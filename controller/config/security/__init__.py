"""The checks of a node's security: JAAS, listeners, mechanisms, principals."""
