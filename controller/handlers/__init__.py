"""The rules of each API: one module for each subject. Handlers read the state and do not change it."""
