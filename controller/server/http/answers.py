"""What a request on the HTTP port asks, and what is answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


class Asked(NamedTuple):
    """A request. path: without what stands after `?`; accept: the header, empty where there is none."""

    method: str
    path: str
    accept: str = ""

    @property
    def is_head(self) -> bool:
        """Whether the answer is wanted without its body."""
        return self.method == "HEAD"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. headers: beside those that every answer has."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def text(status: int, line: str, *headers: tuple[str, str]) -> Answer:
    """An answer of one line."""
    return Answer(status, TEXT, f"{line}\n".encode(), headers)


def as_json(status: int, value: Any) -> Answer:
    """An answer of JSON, indented for people."""
    return Answer(status, JSON, (json.dumps(value, indent=2) + "\n").encode())
