"""What kafka-dump-log finds wrong in files, and tells when it has read them all."""

from __future__ import annotations


class Findings:
    """Gaps between offsets, and entries of indexes that do not fit their log; each by the absolute path of its file."""

    def __init__(self) -> None:
        self.index_mismatches: dict[str, dict[int, int]] = {}
        self.timestamp_mismatches: dict[str, list[tuple[int, int]]] = {}
        self.out_of_order: dict[str, list[tuple[int, int]]] = {}
        self.not_found: dict[str, list[tuple[int, int]]] = {}
        self.gaps: dict[str, dict[int, int]] = {}

    def text(self) -> str:
        """The lines for stderr; empty where all is well."""
        lines = []
        for file, by_offset in self.index_mismatches.items():
            lines.append(f"Mismatches in :{file}")
            for index_offset, log_offset in sorted(by_offset.items(), reverse=True):
                lines.append(f"  Index offset: {index_offset}, log offset: {log_offset}")
        for file, pairs in self.timestamp_mismatches.items():
            lines.append(f"Found timestamp mismatch in :{file}")
            lines += [f"  Index timestamp: {index}, log timestamp: {log}" for index, log in pairs]
        for file, pairs in self.out_of_order.items():
            lines.append(f"Found out of order timestamp in :{file}")
            lines += [f"  Index timestamp: {index}, Previously indexed timestamp: {before}" for index, before in pairs]
        for file, pairs in self.not_found.items():
            lines.append(f"The following indexed offsets are not found in :{file}")
            lines += [f"Indexed offset: {index}, found log offset: {log}" for index, log in pairs]
        for file, gaps in self.gaps.items():
            lines.append(f"Non-consecutive offsets in {file}")
            lines += [f"  {before} is followed by {after}" for before, after in sorted(gaps.items())]
        return "".join(f"{line}\n" for line in lines)
