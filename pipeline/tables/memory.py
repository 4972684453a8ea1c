"""What a run stores of a cluster for the next one, as plain values: its image as records, and its open intervals."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import controller.state.records_of as sections
from pipeline.tables.clusters import Cluster, Election, Session
from pipeline.tables.history import Moment
from records.frame import decode_record, encode_record
from records.metadata.configs import FeatureLevelRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.offline.image import Image

# A metadata.version with all fields of all records.
_LATEST = 1 << 10


class _View:
    """An image in the form that `records_of` takes."""

    metadata_version = _LATEST

    def __init__(self, image: Image) -> None:
        names = ("brokers", "controllers", "topics", "configs", "quotas", "producer_ids", "acls", "scram", "tokens")
        self.tables: dict[str, Any] = {name: getattr(image, name) for name in names}


def image_records(image: Image) -> Iterator[tuple[Any, int]]:
    """Records, each with its version, from which the image can be restored, except for its partitions."""
    for name, level in image.features.items():
        yield FeatureLevelRecord(name=name, feature_level=level), 0
    view: Any = _View(image)
    for section in (
        sections.brokers, sections.controllers, sections.topics, sections.configs, sections.client_quotas,
        sections.producer_ids, sections.acls, sections.scram, sections.delegation_tokens,
    ):  # fmt: skip
        yield from section(view)


def dump(cluster: Cluster) -> str:
    """The memory of a cluster, as JSON on one line."""
    sessions = [
        [broker, session.begin.offset, session.begin.time_us, session.state]
        for broker, session in sorted(cluster.sessions.items())
    ]
    tree = {
        "cluster": cluster.cluster_id,
        "records": [
            b64encode(encode_record(record, version)).decode() for record, version in image_records(cluster.image)
        ],
        "sessions": sessions,
        "election": cluster.election,
        "is_begun": cluster.is_begun,
    }
    return json.dumps(tree, separators=(",", ":"))


def load(text: str) -> Cluster:
    """The cluster that was dumped; raises ValueError if the text is not valid."""
    tree = json.loads(text)
    cluster = Cluster(tree["cluster"])
    for encoded in tree["records"]:
        record, _ = decode_record(b64decode(encoded))
        cluster.image.take(record, -1)
    for broker, offset, time_us, state in tree["sessions"]:
        cluster.sessions[broker] = Session(Moment(offset, time_us), state, cluster.image.brokers[broker])
    cluster.election = None if tree["election"] is None else Election(*tree["election"])
    cluster.is_begun = tree["is_begun"]
    return cluster
