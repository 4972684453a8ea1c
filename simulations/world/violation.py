"""The exception that ends a run when a property does not hold."""

from __future__ import annotations

import traceback


class Violation(Exception):
    """A property is violated. property_id: of `/properties`, S01 and so on; text: the node, and the values."""

    def __init__(self, property_id: str, text: str) -> None:
        self.property_id = property_id
        self.text = text
        super().__init__(property_id, text)

    def __str__(self) -> str:
        return f"{self.property_id}: {self.text}"


def require(condition: object, property_id: str, text: str) -> None:
    """Raise Violation if the condition does not hold. If the text is expensive, test first."""
    if not condition:
        raise Violation(property_id, text)


def describe_error(error: BaseException) -> str:
    """Type and text of an error, and the last stack frames, without parts that differ from run to run."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(
        f"{frame.name} ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in reversed(frames)
    )
    return f"{type(error).__name__}: {error} [{where}]"
