"""Messages as JSON and as text for people."""
