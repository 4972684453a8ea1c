"""The file `leader-epoch-checkpoint`: the start offset of each epoch. It is rebuilt from the log at each start."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Epochs = tuple[tuple[int, int], ...]


def epochs_text(epochs: Iterable[tuple[int, int]]) -> bytes:
    """`0`, the count, then `epoch start-offset` a line."""
    rows = [f"{epoch} {start}\n" for epoch, start in epochs]
    return f"0\n{len(rows)}\n{''.join(rows)}".encode()


def parse_epochs(text: bytes) -> Epochs:
    """The entries; none for an empty file, which Kafka makes before the first entry.

    Raises ValueError if the text has another form.
    """
    if not text:
        return ()
    lines = text.decode("ascii").splitlines()
    if len(lines) < 2 or lines[0] != "0":
        raise ValueError(f"version is {lines[0][:20]!r}, only '0' is read")
    if int(lines[1]) != len(lines) - 2:
        raise ValueError(f"{lines[1]} entries are announced, {len(lines) - 2} are there")
    return tuple((int(epoch), int(start)) for epoch, start in (line.split(" ") for line in lines[2:]))
