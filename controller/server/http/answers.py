"""Requests on the HTTP port, and responses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


class Asked(NamedTuple):
    """A request. path: without the query; accept, host: the headers, empty if there are none; authorization:
    the header.
    """

    method: str
    path: str
    accept: str = ""
    authorization: bytes | None = None
    host: str = ""

    def __repr__(self) -> str:
        return f"Asked({self.method} {self.path})"

    @property
    def is_head(self) -> bool:
        """Whether only the headers of the response are wanted."""
        return self.method == "HEAD"


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response. headers: in addition to those of every response."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def text(status: int, line: str, *headers: tuple[str, str]) -> Answer:
    """A response with one line of text."""
    return Answer(status, TEXT, f"{line}\n".encode(), headers)


def as_json(status: int, value: Any) -> Answer:
    """A response with indented JSON."""
    return Answer(status, JSON, (json.dumps(value, indent=2) + "\n").encode())
