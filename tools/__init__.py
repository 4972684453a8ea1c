"""The command-line tools: those of Kafka's names (`kafka`), `kraftctl`, their client and their readers of directories.

They start within a few dozen milliseconds: nothing here imports numpy, asyncio, structlog or dataclasses at the start,
and modules that few calls need are imported inside the functions that need them; numpy for files of some MiB alone.
"""
