"""The requests of audit logs (docs/audit.md), found by epoch and offset of the records that they wrote.

An offset alone is not enough: records of a leader that lost its epoch may be replaced by others at the same offsets.
"""

from __future__ import annotations

import contextlib
import json
import os
from bisect import bisect_left
from collections import deque
from typing import NamedTuple

from records.plain_text import plain_text
from records.release import AUDIT_FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any, Self

    from tools.kraftctl.points.changes import Committed

# A node writes lines of at most some 300 KiB.
LINE_BYTES_MAX = 1 << 20
# Requests that are kept while files are followed.
FOLLOWED_MAX = 10_000
_DAMAGED = (ValueError, KeyError, TypeError, RecursionError)
_TEXTS = ("time", "api", "listener")
_TEXTS_OR_NULL = ("principal", "client_id", "client_address")
_NUMBERS = ("version", "node_id", "epoch", "first_offset", "last_offset")


class Asked(NamedTuple):
    """A request. principal: None for the controller itself. forwarder: the broker that sent it in an Envelope, as
    principal and address; None for none.
    """

    time: str
    node_id: int
    api: str
    version: int
    principal: str | None
    client_id: str | None
    client_address: str | None
    listener: str
    forwarder: dict[str, str] | None


class Requests:
    """The requests of audit logs that wrote some of the wanted records. unreadable: lines that are none of an audit
    log, for example of a disk that was full.
    """

    def __init__(self, wanted: Iterable[tuple[int, int]]) -> None:
        """wanted: epoch and offset of records."""
        self.unreadable = 0
        self._found: dict[tuple[int, int], Asked] = {}
        self._offsets: dict[int, list[int]] = {}
        for epoch, offset in sorted(set(wanted)):
            self._offsets.setdefault(epoch, []).append(offset)

    def of(self, change: Committed) -> Asked | None:
        """The request that made a change; None if no line has it."""
        return self._found.get((change.epoch, change.offset))

    def problems(self) -> list[str]:
        """What is wrong with the files, a line each."""
        return [f"{self.unreadable} lines are not of an audit log"] if self.unreadable else []

    def read(self, path: str) -> None:
        """Take the lines of a file, by its name compressed or not. Raises OSError, EOFError, zlib.error."""
        with _open(path) as file:
            for line in _lines(file):
                self.take(line)

    def take(self, line: bytes | None) -> None:
        """Take one line; None for one that is too long."""
        try:
            said = None if line is None else json.loads(line)
            asked, numbers = _parse_line(said)
        except _DAMAGED:
            self.unreadable += 1
            return
        if asked is None:
            return
        epoch, first, last = numbers
        offsets = self._offsets.get(epoch, [])
        for position in range(bisect_left(offsets, first), len(offsets)):
            if offsets[position] > last:
                break
            self._found[epoch, offsets[position]] = asked


class Following:
    """The requests of audit logs that are being written, the newest FOLLOWED_MAX of them; a context manager."""

    def __init__(self, paths: Iterable[str], *, from_begin: bool) -> None:
        """from_begin: whether what is in the files now counts too. Raises OSError."""
        self._followed = [_Followed(path, from_begin=from_begin) for path in paths]
        self._newest: deque[tuple[tuple[int, int, int], Asked]] = deque(maxlen=FOLLOWED_MAX)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for followed in self._followed:
            followed.close()

    def of(self, change: Committed) -> Asked | None:
        """The request that made a change, if its line is written. Raises OSError."""
        for followed in self._followed:
            for line in followed.lines():
                with contextlib.suppress(*_DAMAGED):
                    asked, numbers = _parse_line(json.loads(line))
                    if asked is not None:
                        self._newest.append((numbers, asked))
        for (epoch, first, last), asked in reversed(self._newest):
            if epoch == change.epoch and first <= change.offset <= last:
                return asked
        return None


class _Followed:
    """One file, which its node may rotate."""

    def __init__(self, path: str, *, from_begin: bool) -> None:
        self._path = path
        self._file = open(path, "rb")  # noqa: PTH123, SIM115
        if not from_begin:
            self._file.seek(0, os.SEEK_END)
        self._begun = b""

    def close(self) -> None:
        self._file.close()

    def lines(self) -> Iterator[bytes]:
        """The whole lines that were written since the last call."""
        while True:
            while data := self._file.read(LINE_BYTES_MAX):
                *whole, self._begun = (self._begun + data).split(b"\n")
                yield from whole
                if len(self._begun) > LINE_BYTES_MAX:
                    self._begun = b""  # its end is then a line that cannot be read
            if not self._is_rotated():
                return
            self._file.close()
            self._file = open(self._path, "rb")  # noqa: PTH123, SIM115
            self._begun = b""

    def _is_rotated(self) -> bool:
        """Whether another file has the path now; not while none has it."""
        try:
            there, ours = os.stat(self._path), os.fstat(self._file.fileno())  # noqa: PTH116
        except FileNotFoundError:
            return False
        # The last lines may have been written between the last read and the rotation.
        return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino) and self._file.tell() == ours.st_size


def read_requests(paths: Iterable[str], wanted: Iterable[tuple[int, int]]) -> Requests:
    """The requests that wrote the wanted records, from all files. Raises OSError."""
    import zlib

    requests = Requests(wanted)
    for path in paths:
        try:
            requests.read(path)
        except (EOFError, zlib.error) as error:
            raise OSError(f"{path}: {error}") from None
    return requests


def line_of(asked: Asked) -> str:
    """A request in brackets, for the end of a line."""
    if asked.principal is None:
        return f"[{plain_text(asked.api)} by node {asked.node_id} itself]"
    client = f", client {plain_text(asked.client_id)}" if asked.client_id else ""
    where = f", from {plain_text(asked.client_address)}" if asked.client_address else ""
    via = f" by way of {plain_text(asked.forwarder['principal'])}" if asked.forwarder else ""
    return f"[{plain_text(asked.api)} by {plain_text(asked.principal)}{client}{where}{via}]"


def json_of(asked: Asked | None) -> dict[str, Any] | None:
    """A request as values of JSON; None if it is not known."""
    if asked is None:
        return None
    said = asked._asdict()
    if asked.forwarder is None:
        del said["forwarder"]
    return said


def _open(path: str) -> IO[bytes]:
    if path.endswith(".gz"):
        import gzip

        return gzip.open(path)  # type: ignore[return-value]
    return open(path, "rb")  # noqa: PTH123 - pathlib costs 10 ms


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a file that are not empty; None for one that is too long, which is skipped."""
    while line := file.readline(LINE_BYTES_MAX):
        if not line.endswith(b"\n") and len(line) == LINE_BYTES_MAX:
            while (rest := file.readline(LINE_BYTES_MAX)) and not rest.endswith(b"\n"):
                pass
            yield None
        elif line.strip():
            yield line


def _parse_line(said: Any) -> tuple[Asked | None, tuple[int, int, int]]:
    """The request of a line with epoch, first and last offset; None for one that wrote nothing.

    Raises KeyError, TypeError, ValueError if it is no line of an audit log.
    """
    if not isinstance(said, dict) or not isinstance(said["api"], str) or not isinstance(said["outcome"], str):
        raise TypeError
    if said.get("format", AUDIT_FORMAT) != AUDIT_FORMAT:
        raise ValueError
    if "first_offset" not in said:
        return None, (-1, -1, -1)
    forwarder = said.get("forwarder")
    texts: list[Any] = [said[name] for name in _TEXTS]
    texts += [said[name] for name in _TEXTS_OR_NULL if said[name] is not None]
    if forwarder is not None:
        texts += [forwarder["principal"], forwarder["address"]]
    if not all(isinstance(each, str) for each in texts) or not all(type(said[name]) is int for name in _NUMBERS):
        raise TypeError
    fields: Any = {name: said.get(name) for name in Asked._fields}
    return Asked(**fields), (said["epoch"], said["first_offset"], said["last_offset"])
