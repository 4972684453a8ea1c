"""The command-line tools: each a module of its own, with the texts and exit codes of Kafka's tool of that name.

They start within a few dozen milliseconds: nothing here imports numpy, asyncio, structlog or dataclasses, and modules
that few calls need are imported inside the functions that need them.
"""
