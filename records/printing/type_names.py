"""Names of record types as Kafka's tools print them. Apart from the registry, which imports nothing heavy."""

from __future__ import annotations

from functools import cache


@cache
def type_name(class_name: str) -> str:
    """`TopicRecord` as `TOPIC_RECORD`."""
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in class_name)[1:].upper()
