"""The table `image_at`: the metadata as of an offset or a time, one row for each entry."""

from __future__ import annotations

import re
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline.arrow import arrow_schema
from pipeline.schemas import IMAGE_AT, PARTITION_FIELDS
from pipeline.source.options import OptionError
from pipeline.tables import folding, running
from pipeline.tables.memory import image_records
from pipeline.tables.partitions import STATE, STATE_COLUMNS
from records.printing.json_form import to_json
from records.printing.json_text import json_text
from records.uuids import uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pipeline.tables.clusters import Cluster
    from pipeline.tables.warehouse import Manifest, Warehouse
    from tools.offline.image import Image

# The text of an unassigned directory; partitions from before KIP-858 have it for each replica.
_MIGRATING = "A" * 22

# record type: section, key
_SECTIONS: dict[int, tuple[str, Callable[[Any], str]]] = {
    12: ("features", lambda record: record.name),
    0: ("brokers", lambda record: str(record.broker_id)),
    27: ("controllers", lambda record: str(record.controller_id)),
    2: ("topics", lambda record: record.name),
    4: ("configs", lambda record: f"{record.resource_type}:{record.resource_name}:{record.name}"),
    14: ("quotas", lambda record: f"{_entity(record)}:{record.key}"),
    15: ("producer_ids", lambda _record: "next"),
    18: ("acls", lambda record: uuid_text(record.id)),
    11: ("scram", lambda record: f"{record.name}:{record.mechanism}"),
    10: ("tokens", lambda record: record.token_id),
}


@contextmanager
def image_frame(session: Any, warehouse: Warehouse, manifest: Manifest, at: str) -> Iterator[Any]:
    """The image of each cluster as of an offset or a time, as a DataFrame of the table `image_at`.

    It reads files that are removed at the end of the block. at: digits, or an ISO 8601 time, in UTC unless it has an
    offset. Raises OptionError.
    """
    frame = running.frame_of(session, warehouse, manifest, "records").where("kind in ('record', 'control')")
    if re.fullmatch(r"\d{1,18}", at):
        ends = {cluster: int(at) for cluster in manifest.ingested}
    else:
        ends = _offsets_at(frame, _time_of(at))
    with warehouse.scratch() as target:
        with warehouse.scratch() as scratch:
            clusters, division = running.until(session, warehouse.paths(manifest, "records"), ends, scratch)
            folding.fold(session, division, running.events_of(clusters), target, names=frozenset((STATE,)))
        ddl = ", ".join(f"`{column.name}` {column.type}" for column in STATE_COLUMNS)
        paths = map(str, target.glob(f"part={STATE}"))
        partitions = session.read.schema(ddl).parquet(*paths) if division.rows else session.createDataFrame([], ddl)
        rows = [row for cluster in clusters.values() for row in image_rows(cluster, ends[cluster.cluster_id])]
        others = session.createDataFrame(_arrow(rows))
        yield others.unionByName(_partitions(session, partitions, ends))


def image_rows(cluster: Cluster, offset: int) -> list[dict[str, Any]]:
    """The entries of a cluster's image other than partitions."""
    rows = []
    for record, version in image_records(cluster.image):
        section, key = _SECTIONS[record.__schema__.api_key]
        row = {
            "cluster": cluster.cluster_id, "image_offset": offset, "section": section, "key": key(record),
            "json": json_text(to_json(record, version)),
        }  # fmt: skip
        if section == "topics":
            row |= {"topic_id": uuid_text(record.topic_id), "topic": record.name}
        rows.append(row)
    return rows


def topic_names(image: Image) -> dict[str, str]:
    """Topic id -> name."""
    return {uuid_text(topic_id): topic.name for topic_id, topic in image.topics.items()}


def _partitions(session: Any, state: Any, ends: Mapping[str, int]) -> Any:
    frame = session.createDataFrame(
        pa.table({"c": list(ends), "image_offset": pa.array(list(ends.values()), pa.int64())})
    )
    migrating = f"size(array_remove(directories, '{_MIGRATING}')) = 0 or directories is null"
    directories = f"if({migrating}, array_repeat('{_MIGRATING}', size(replicas)), directories) as directories"
    fields = [directories if one.name == "directories" else one.name for one in PARTITION_FIELDS]
    joined = state.join(frame, state["cluster"] == frame["c"])
    return joined.selectExpr(
        "cluster", "image_offset", "'partitions' as section", "concat(topic_id, ':', `partition`) as key", "topic_id",
        "topic", "`partition`", *fields, "cast(null as string) as json",
    )  # fmt: skip


def _arrow(rows: list[dict[str, Any]]) -> Any:
    schema = arrow_schema(IMAGE_AT.columns)
    return pa.Table.from_arrays(
        [pa.array([row.get(field.name) for row in rows], field.type) for field in schema], schema=schema
    )


def _time_of(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"{text!r} is neither an offset nor a time like 2026-11-21T10:00:00") from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _offsets_at(frame: Any, time: datetime) -> dict[str, int]:
    """The last offset at a time, by cluster."""
    bound = time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    rows = frame.where(f"time <= timestamp'{bound}+00:00'").groupBy("cluster").agg({"offset": "max"}).collect()
    return {row[0]: row[1] for row in rows}


def _entity(record: Any) -> str:
    return ",".join(f"{part.entity_type}={part.entity_name or '<default>'}" for part in record.entity)
