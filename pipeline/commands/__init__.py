"""`kraft-pipeline`: one module a command."""
