"""The rules of each API: one module a subject, whose handlers read the state and change nothing."""
