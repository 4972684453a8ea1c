"""The lookups of a sequence: `epoch()`, `end()-1`, `batches(ok,0:2,0:1)`, `part(100)`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from raft.interface.voters import voters_record
from records.batch import HEADER_BYTES, build_control_batch
from records.control import KRaftVersionRecord
from records.control_batch import encode_control
from records.uuids import uuid_text
from tests.oracle.raft.directory import CLUSTER, PAST_MS, batch, directory_id, snapshot_bytes, voter_set

if TYPE_CHECKING:
    from raft.state.follower_state import Download
    from tests.oracle.raft.ours import Ours

FORM = re.compile(r"(\w+)\(([^)]*)\)([+-]\d+)?")


def look_up(ours: Ours, text: str) -> Any:
    """The value of a lookup in our present state. Raises ValueError for an unknown form."""
    found = FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"${text} is no reference")
    name, arguments, offset = found.groups()
    value = KINDS[name](ours, *[part for part in arguments.split(",") if part])
    return value + int(offset) if offset and isinstance(value, int) else value


def _batches(ours: Ours, form: str, *parts: str) -> bytes:
    """Batches that follow our log. form: `ok`, or what is wrong with them; parts: epoch less ours, number of records.

    In place of a number, `v123` is a control batch with these voters, and `u123` one that also raises kraft.version.
    Epochs do not fall, but in the form `falling`.
    """
    log, epoch = ours.replica.log, ours.replica.epoch
    least = 0 if form == "falling" else log.last_epoch
    offset = log.end
    found = []
    for part in parts:
        change, _, what = part.partition(":")
        of_epoch = max(epoch + int(change), least)
        if what[0] in "uv":
            found.append(_voters_batch(ours, offset, of_epoch, what))
            offset += 1 + (what[0] == "u")
            continue
        found.append(batch(offset, of_epoch, int(what)))
        offset += int(what)
    last = found[-1] if found else b""
    match form:
        case "crc":
            found[-1] = last[:HEADER_BYTES] + bytes(byte ^ 0x55 for byte in last[HEADER_BYTES:])
        case "torn":
            found[-1] = last[:-3]
        case "head":
            found[-1] = last[:20]
        case "gap":
            found[-1] = (int.from_bytes(last[:8]) + 1).to_bytes(8) + last[8:]
    return b"".join(found)


def _voters_batch(ours: Ours, offset: int, epoch: int, what: str) -> bytes:
    begin = replace(ours.begin, voters=tuple(int(digit) for digit in what[1:]), kraft_version=1)
    records: list[Any] = [voters_record(voter_set(begin))]
    if what[0] == "u":
        records.insert(0, KRaftVersionRecord(version=0, kraft_version=1))
    return build_control_batch(
        [encode_control(found) for found in records], base_offset=offset, leader_epoch=epoch, timestamp_ms=PAST_MS
    )


def _download(ours: Ours) -> Download:
    download = getattr(getattr(ours.replica.role, "state", None), "download", None)
    if download is None:
        raise ValueError("no snapshot is being fetched")
    return download  # type: ignore[no-any-return]


def _whole(ours: Ours) -> bytes:
    return snapshot_bytes(ours.begin, *_download(ours).id)


def _part(ours: Ours, length: str) -> bytes:
    position = _download(ours).position
    return _whole(ours)[position : position + int(length)]


def _high_watermark(ours: Ours) -> int:
    known = ours.replica.high_watermark
    return -1 if known is None else known


def _reached(ours: Ours, change: str) -> int:
    """The end of our log plus a difference, but not below the high watermark."""
    return max(ours.replica.log.end + int(change), ours.replica.log.committed, _high_watermark(ours))


KINDS: dict[str, Any] = {
    "cluster": lambda _: CLUSTER,
    "epoch": lambda ours: ours.replica.epoch,
    "leader": lambda ours: -1 if ours.replica.leader_id is None else ours.replica.leader_id,
    "end": lambda ours: ours.replica.log.end,
    "start": lambda ours: ours.replica.log.start,
    "last_epoch": lambda ours: ours.replica.log.last_epoch,
    "hw": _high_watermark,
    "reached": _reached,
    "directory": lambda _, voter_id: uuid_text(directory_id(int(voter_id))),
    "batches": _batches,
    "part": _part,
    "part_size": lambda ours: len(_whole(ours)),
    "part_position": lambda ours: _download(ours).position,
    "part_end": lambda ours: _download(ours).id.end_offset,
    "part_epoch": lambda ours: _download(ours).id.epoch,
}
