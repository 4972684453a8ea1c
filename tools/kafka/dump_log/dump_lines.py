"""The lines of kafka-dump-log: fields as `name: value` as in stock, or one JSON object per line."""

from __future__ import annotations

import sys

from tools.command_line.java_texts import boolean, optional_long
from tools.command_line.standard_streams import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from tools.kafka.dump_log.dump_findings import Findings

# Stock prints no colon after these names.
_WITHOUT_COLON = frozenset(("SnapshotHeader", "SnapshotFooter", "KRaftVersion", "KRaftVoters"))
_OPTIONAL = frozenset(("deleteHorizonMs", "currentTxnFirstOffset"))


class Run:
    """Lines of consecutive records, each with its line break. first_offset, last_offset: inclusive."""

    __slots__ = ("first_offset", "last_offset", "text")

    def __init__(self, first_offset: int, last_offset: int, text: str) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.text = text


class TextLines:
    """Stock's lines."""

    def note(self, text: str, **_: Any) -> None:
        """A line of text; `what` has its content for JSON output."""
        sys.stdout.write(f"{text}\n")

    def line(self, kind: str, fields: Iterable[tuple[str, Any]]) -> None:
        """A line of fields. If one cannot be read, the fields before it are printed, as in stock."""
        parts: list[str] = []
        end = ""
        try:
            for name, value in fields:
                parts.append(field_text(name, value))
            end = "\n"
        finally:
            sys.stdout.write(("| " if kind == "record" and parts else "") + " ".join(parts) + end)

    def run(self, run: Run) -> None:
        """The lines of many records."""
        sys.stdout.write(run.text)

    def findings(self, findings: Findings) -> None:
        """Print the findings of all files on stderr."""
        complain(findings.text())


class JsonLines:
    """One JSON object per line, with `kind` and `file` first; stock has no such output."""

    def __init__(self) -> None:
        self.file = ""

    def note(self, _: str, **what: Any) -> None:
        self.file = what.get("file", self.file)
        self.line("note" if "file" not in what else "file", what.items())

    def line(self, kind: str, fields: Iterable[tuple[str, Any]]) -> None:
        from json import dumps

        tree = {"kind": kind, "file": self.file, **dict(fields)}
        sys.stdout.write(dumps(tree, ensure_ascii=False, separators=(",", ":")) + "\n")

    def findings(self, findings: Findings) -> None:
        """Print the findings of all files, one object each, on stdout."""
        for kind, fields in findings.objects():
            self.file = fields.pop("file")
            self.line(kind, fields.items())


def record_line(fields: Iterable[tuple[str, Any]]) -> str:
    """The line of a record with these fields, as `TextLines` prints it."""
    return f"| {' '.join([field_text(name, value) for name, value in fields])}\n"


def field_text(name: str, value: Any) -> str:
    """A field with its name, as Java prints it."""
    kind = type(value)
    if kind is int and name not in _OPTIONAL:  # most fields are integers
        return f"{name}: {value}"
    if kind is dict:
        from records.printing.json_text import json_text

        text = json_text(value)
    elif kind is bool:
        text = boolean(value)
    elif kind is tuple:
        text = f"[{','.join(value)}]"
    else:
        text = optional_long(value) if name in _OPTIONAL else str(value)
    return f"{name} {text}" if name in _WITHOUT_COLON else f"{name}: {text}"
