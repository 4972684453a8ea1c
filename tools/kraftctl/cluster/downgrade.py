"""What a lower metadata.version cannot express of the present metadata, for `kraftctl features preflight`."""

from __future__ import annotations

from typing import NamedTuple

from records.features.levels import METADATA_VERSIONS, known_metadata_version
from records.features.record_versions import (
    CONTROLLER_REGISTRATION,
    CORDONED_DIRECTORIES,
    DELEGATION_TOKENS,
    DIRECTORY_ASSIGNMENT,
    ELR_RECORDS,
    SCRAM,
)
from records.uuids import is_reserved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.state.partitions.partition import Partition
    from tools.offline.image import Image


class Unreadable(NamedTuple):
    """Metadata that releases below a level cannot read. release: the name of the level, such as 4.3-IV0."""

    level: int
    release: str
    what: str
    number: int


def refusal(current: int, level: int) -> str | None:
    """Why Kafka refuses to lower metadata.version, safely or not; None where it does not.

    It looks at the levels between, and not at what the metadata has.
    """
    changed = [each.name for each in METADATA_VERSIONS if level < each.level <= current and each.changes_metadata]
    if not changed:
        return None
    names = ", ".join(changed)
    return f"Kafka refuses a downgrade from {current} to {level}, also with --unsafe: {names} changed records"


def unreadable_below(image: Image, level: int) -> list[Unreadable]:
    """What the metadata has that a release cannot read at this metadata.version, the newest level first."""
    unreadable = [
        Unreadable(needed, known_metadata_version(needed).name, what, count)
        for needed, what, count in _counts(image)
        if count and needed > level
    ]
    return sorted(unreadable, reverse=True)


def _counts(image: Image) -> Iterator[tuple[int, str, int]]:
    brokers = image.brokers.values()
    yield CORDONED_DIRECTORIES, "brokers with cordoned directories", _count(each.cordoned for each in brokers)
    yield DIRECTORY_ASSIGNMENT, "brokers with directory ids", _count(each.directories for each in brokers)
    partitions = list(_partitions(image))
    yield (
        ELR_RECORDS,
        "partitions with eligible leader replicas",
        _count(each.elr or each.last_known_elr for each in partitions),
    )
    yield (
        DIRECTORY_ASSIGNMENT,
        "partitions with directory ids",
        _count(any(not is_reserved(each) for each in partition.directories) for partition in partitions),
    )
    yield CONTROLLER_REGISTRATION, "registered controllers", len(image.controllers)
    yield DELEGATION_TOKENS, "delegation tokens", len(image.tokens)
    yield SCRAM, "SCRAM credentials", len(image.scram)


def _partitions(image: Image) -> Iterator[Partition]:
    for topic in image.topics.values():
        yield from topic.partitions.values()


def _count(values: Iterable[object]) -> int:
    return sum(1 for value in values if value)
