"""Writing copies of metadata logs, and reading them back without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline.schemas import RECORDS
from pipeline.source.columns import batch_of_findings, schema_of
from pipeline.source.logs import Directories, logs_of
from pipeline.source.reading import Wanted, read_part
from records.batch import build_batch, build_control_batch
from records.control import LeaderChangeMessage
from records.control_batch import encode_control
from records.frame import encode_record
from records.schema import schema_of as message_schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "data" / "golden"
CLUSTER = "kVmcgUyaSDm4SsQ5yB8BQA"
# What is the same of a record in whatever copy of the log it is read.
NAMES = tuple(name for name in RECORDS.names if name not in ("node", "file", "position"))
BEGIN_MS = 1_790_000_000_000


def value_of(record: Any) -> bytes:
    """The record as it stands in a log, in its newest version."""
    return encode_record(record, message_schema_of(type(record)).versions[1])


def batches_of(random: Random, records: list[Any], *, first: int = 0, size_max: int = 40) -> list[bytes]:
    """The records in batches of random sizes, a second apart; epoch 1."""
    found = []
    position = 0
    while position < len(records):
        some = records[position : position + random.randint(1, size_max)]
        offset = first + position
        values = [value_of(record) for record in some]
        found.append(build_batch(values, base_offset=offset, leader_epoch=1, timestamp_ms=BEGIN_MS + offset * 1000))
        position += len(some)
    return found


def election(offset: int, epoch: int, leader: int, time_ms: int) -> bytes:
    """The batch with which a leader begins its epoch."""
    voters = tuple(LeaderChangeMessage.Voter(voter_id=voter) for voter in (1, 2, 3))
    record = LeaderChangeMessage(version=0, leader_id=leader, voters=voters, granting_voters=voters[:2])
    return build_control_batch([encode_control(record)], base_offset=offset, leader_epoch=epoch, timestamp_ms=time_ms)


def node_directory(
    directory: Path, segments: dict[int, bytes], *, cluster_id: str | None = CLUSTER, node_id: int = 1
) -> Path:
    """A directory in the layout of a node. segments: bytes by base offset."""
    partition = directory / "__cluster_metadata-0"
    partition.mkdir(parents=True)
    if cluster_id is not None:
        text = f"version=1\nnode.id={node_id}\ncluster.id={cluster_id}\n"
        (directory / "meta.properties").write_text(text)
    for offset, data in segments.items():
        (partition / f"{offset:020d}.log").write_bytes(data)
    return directory


def read(
    *paths: Path | str,
    progress: dict[str, dict[str, int]] | None = None,
    wanted: Wanted | None = None,
    range_bytes: int = 1 << 25,
    cluster_id: str | None = None,
    names: Iterable[str] = RECORDS.names,
) -> Any:
    """All rows of the table `records`, in order, as a pyarrow.Table."""  # fmt: skip
    schema = schema_of(tuple(names))
    logs = Directories(tuple(map(str, paths)), cluster_id, range_bytes)
    plans, findings = logs.plans(progress or {}, is_live=False)
    for plan in plans:
        findings += plan.findings
    batches = [batch for plan in plans for part in plan.ranges for batch in read_part(part, schema, wanted or Wanted())]
    return pa.Table.from_batches([batch_of_findings(findings, schema), *batches], schema=schema)


def fetched(options: dict[str, str], progress: dict[str, dict[str, int]], wanted: Wanted) -> tuple[Any, int]:
    """The rows after a progress, and where they end."""
    plans, _ = logs_of(options).plans(progress, is_live=True)
    schema = schema_of(NAMES)
    batches = [batch for part in plans[0].ranges for batch in read_part(part, schema, wanted)]
    return pa.Table.from_batches(batches, schema=schema), plans[0].end_offset
