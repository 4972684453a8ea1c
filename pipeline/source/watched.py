"""A live quorum as a source, through its watch service (docs/watch.md): committed records, from any of its nodes.

The service sends records as JSON trees. They are encoded again and decoded like those of a file, so that their rows are
equal. NoOps, elections and transaction markers are not changes and have no rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kraft_quorum.client import Client, Files, WatchFailed
from pipeline.source.options import OptionError
from pipeline.source.ranges import Plan, of_no_file
from pipeline.source.reading import Wanted, decode
from records.batch import build_batch
from records.frame import encode_record
from records.hidden_text import HIDDEN
from records.metadata.security import UserScramCredentialRecord
from records.printing.json_form import from_json
from records.registry import METADATA_RECORDS, metadata_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipeline.source.ranges import Finding

# Offsets of a task.
OFFSETS_PER_RANGE = 200_000
PATIENCE_S = 30.0
_TYPES = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper(): number for number, (name, _) in METADATA_RECORDS.items()}


class WatchEnded(Exception):
    """The watch service no longer has the records to read. The text is one line."""


class Watch(NamedTuple):
    """The log of a live quorum, by watching."""

    targets: tuple[str, ...]
    tls: Files | None

    def client(self, cluster_id: str | None = None) -> Client:
        return Client(self.targets, tls=self.tls, cluster_id=cluster_id)

    def plans(self, progress: Mapping[str, Mapping[str, int]], *, is_live: bool) -> tuple[list[Plan], list[Finding]]:
        """A plan for the committed records from the progress on. Raises WatchEnded."""
        del is_live
        try:
            with self.client() as client:
                status = client.status()
        except WatchFailed as error:
            raise WatchEnded(str(error)) from None
        cluster_id = status["cluster_id"]
        begin = progress.get(cluster_id, {}).get("offset", 0)
        if begin < status["log_start_offset"]:
            raise WatchEnded(
                f"cluster {cluster_id}: offset {begin} is needed, but the log begins at {status['log_start_offset']}; "
                "use the option quorum to read the records before it from a snapshot"
            )
        end = max(status["watch_end_offset"], begin)
        parts: list[Any] = [
            WatchRange(self, cluster_id, start, min(start + OFFSETS_PER_RANGE, end))
            for start in range(begin, end, OFFSETS_PER_RANGE)
        ]
        return [Plan(cluster_id, tuple(parts), (), end)], []


class WatchRange(NamedTuple):
    """Offsets that are watched on any node. The fields of a `Range` that it cannot fill are unknown."""

    watch: Watch
    cluster_id: str
    base_offset: int
    end_offset: int
    until: int = (1 << 63) - 1
    checkpoint_end_offset: int = -1
    epoch: int = -1
    start: int = 0
    end: int = 0
    min_time_ms: int = -(1 << 62)
    max_time_ms: int = 1 << 62

    def read(self, schema: Any, wanted: Wanted) -> Iterator[Any]:
        """The rows of these offsets. Raises WatchEnded."""
        end = min(self.end_offset, self.until)
        wanted = wanted.within(self.base_offset, end)
        source = of_no_file(self, self.base_offset, end)
        try:
            with self.watch.client(self.cluster_id) as client:
                for update in client.watch(self.base_offset, patience_s=PATIENCE_S):
                    if update.kind == "image":
                        raise WatchEnded(f"cluster {self.cluster_id}: the log no longer has offset {self.base_offset}")
                    for data in batches_of(update.changes):
                        yield from decode(data, source, schema, wanted)
                    if update.next_offset >= end:
                        return
        except WatchFailed as error:
            raise WatchEnded(str(error)) from None


def targets_of(text: str) -> tuple[str, ...]:
    """The nodes in an option, host:port, separated by commas; raises OptionError."""
    targets = tuple(part.strip() for part in text.split(",") if part.strip())
    for part in targets:
        host, _, port = part.rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise OptionError(f"watch: {part!r} is not host:port")
    if not targets:
        raise OptionError("watch: no host:port given")
    return targets


def tls_of(options: Mapping[str, str]) -> Files | None:
    """The PEM files that the options name; raises OptionError."""
    ca, chain, key = (options.get(name) for name in ("watchca", "watchchain", "watchkey"))
    if ca is None and (chain or key):
        raise OptionError("watchchain and watchkey need watchca")
    return None if ca is None else Files(ca, chain, key)


def batches_of(changes: list[dict[str, Any]]) -> Iterator[bytes]:
    """Record batches made of the changes of the service: adjacent changes of one batch of the log become one batch."""
    held: list[dict[str, Any]] = []
    for change in changes:
        if held and not _follows(held[-1], change):
            yield _batch(held)
            held = []
        held.append(change)
    if held:
        yield _batch(held)


def _follows(last: dict[str, Any], change: dict[str, Any]) -> bool:
    return bool(
        change["offset"] == last["offset"] + 1
        and change["timestamp"] == last["timestamp"]
        and change["epoch"] == last["epoch"]
    )


def _batch(changes: list[dict[str, Any]]) -> bytes:
    first = changes[0]
    return build_batch(
        [_value(change) for change in changes],
        base_offset=first["offset"],
        leader_epoch=first["epoch"],
        timestamp_ms=first["timestamp"],
    )


def _value(change: dict[str, Any]) -> bytes:
    """The record as in the log, with hidden fields replaced."""
    cls = metadata_class(_TYPES[change["type"]])
    empty = "" if cls is UserScramCredentialRecord else HIDDEN
    tree = {**change["data"], **dict.fromkeys(change.get("hidden") or (), empty)}
    return encode_record(from_json(cls, change["version"], tree), change["version"])
