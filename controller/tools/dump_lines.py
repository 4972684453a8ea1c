"""The lines of kafka-dump-log: fields as `name: value` as stock prints them, or as one JSON object a line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from controller.tools.java_texts import boolean, optional_long

if TYPE_CHECKING:
    from collections.abc import Iterable

# Stock prints no colon behind the names of these.
_WITHOUT_COLON = frozenset(("SnapshotHeader", "SnapshotFooter", "KRaftVersion", "KRaftVoters"))
_OPTIONAL = frozenset(("deleteHorizonMs", "currentTxnFirstOffset"))


class TextLines:
    """Stock's lines."""

    def note(self, text: str, **_: Any) -> None:
        """A line of words; what it says is in the arguments by name, for programs."""
        sys.stdout.write(f"{text}\n")

    def line(self, kind: str, fields: Iterable[tuple[str, Any]]) -> None:
        """A line of fields. Where one cannot be read, those before it are printed all the same, as stock does."""
        parts: list[str] = []
        try:
            for name, value in fields:
                parts.append(f"{name}{'' if name in _WITHOUT_COLON else ':'} {field_text(name, value)}")
        finally:
            sys.stdout.write(("| " if kind == "record" and parts else "") + " ".join(parts))
        sys.stdout.write("\n")


class JsonLines:
    """One JSON object a line, with `kind` and `file` first: ours alone."""

    def __init__(self) -> None:
        self.file = ""

    def note(self, _: str, **what: Any) -> None:
        self.file = what.get("file", self.file)
        self.line("note" if "file" not in what else "file", what.items())

    def line(self, kind: str, fields: Iterable[tuple[str, Any]]) -> None:
        from json import dumps

        tree = {"kind": kind, "file": self.file, **dict(fields)}
        sys.stdout.write(dumps(tree, ensure_ascii=False, separators=(",", ":")) + "\n")


def field_text(name: str, value: Any) -> str:
    """A value as Java prints it."""
    if isinstance(value, bool):
        return boolean(value)
    if name in _OPTIONAL:
        return optional_long(value)
    if isinstance(value, dict):
        from records.json_text import json_text

        return json_text(value)
    if isinstance(value, tuple):
        return f"[{','.join(value)}]"
    return str(value)
