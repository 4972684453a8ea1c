"""The problems that kafka-dump-log finds in files and prints after it has read them all."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

INDEX_MISMATCH, TIMESTAMP_MISMATCH, OUT_OF_ORDER, NOT_FOUND, GAP = range(5)

# kind: (its name in JSON, the line before its files, the line for each, the names of the two numbers in JSON)
_KINDS = {
    INDEX_MISMATCH: (
        "indexMismatch", "Mismatches in :", "  Index offset: {}, log offset: {}", ("indexOffset", "logOffset"),
    ),
    TIMESTAMP_MISMATCH: (
        "timestampMismatch", "Found timestamp mismatch in :", "  Index timestamp: {}, log timestamp: {}",
        ("indexTimestamp", "logTimestamp"),
    ),
    OUT_OF_ORDER: (
        "timestampOutOfOrder", "Found out of order timestamp in :",
        "  Index timestamp: {}, Previously indexed timestamp: {}", ("indexTimestamp", "previousTimestamp"),
    ),
    NOT_FOUND: (
        "offsetNotFound", "The following indexed offsets are not found in :",
        "Indexed offset: {}, found log offset: {}", ("indexOffset", "logOffset"),
    ),
    GAP: ("offsetGap", "Non-consecutive offsets in ", "  {} is followed by {}", ("offset", "nextOffset")),
}  # fmt: skip


class Findings:
    """Gaps between offsets, and index entries that do not match their log, by the absolute path of the file."""

    def __init__(self) -> None:
        self.found: dict[int, dict[str, list[tuple[int, int]]]] = {kind: {} for kind in _KINDS}

    def add(self, kind: int, file: str, first: int, second: int) -> None:
        self.found[kind].setdefault(file, []).append((first, second))

    def pairs(self) -> Iterator[tuple[int, str, list[tuple[int, int]]]]:
        """Each kind and file with its pairs of numbers, in the order in which they are printed."""
        for kind, files in self.found.items():
            for file, pairs in files.items():
                if kind == INDEX_MISMATCH:
                    pairs = sorted(dict(pairs).items(), reverse=True)
                elif kind == GAP:
                    pairs = sorted(dict(pairs).items())
                yield kind, file, pairs

    def text(self) -> str:
        """The lines for stderr; empty if there are no findings."""
        lines = []
        for kind, file, pairs in self.pairs():
            _, title, line, _ = _KINDS[kind]
            lines.append(title + file)
            lines += [line.format(*pair) for pair in pairs]
        return "".join(f"{line}\n" for line in lines)

    def objects(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The findings for JSON output: a kind and its fields."""
        for kind, file, pairs in self.pairs():
            name, _, _, names = _KINDS[kind]
            for pair in pairs:
                yield name, {"file": file, **dict(zip(names, pair, strict=True))}
