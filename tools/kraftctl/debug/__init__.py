"""`kraftctl debug …`: what a ticket needs."""
