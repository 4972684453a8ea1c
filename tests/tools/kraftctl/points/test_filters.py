"""The filters of `diff`, `history` and `watch`."""

from __future__ import annotations

from argparse import ArgumentParser

from tools.kraftctl.points.changes import Change
from tools.kraftctl.points.entries import PARTITION, TOPIC
from tools.kraftctl.points.filters import add_filter_options, make_filter

CREATED = [
    Change(kind, name, "", None, {})
    for kind, name in (
        (TOPIC, "my"), (TOPIC, "my-topic"), (TOPIC, "my-topic-1"), (PARTITION, "my-1"), (PARTITION, "my-topic-0"),
        (PARTITION, "my-topic-1"), (PARTITION, "my-topic-1-0"),
    )
]  # fmt: skip


def shown(*options: str) -> list[tuple[str, str]]:
    parser = ArgumentParser()
    add_filter_options(parser)
    is_wanted = make_filter(parser.parse_args(options))
    return [(change.kind, change.name) for change in CREATED if is_wanted(change)]


def test_a_partition_is_shown_with_its_topic_whatever_dashes_its_name_has() -> None:
    assert shown("--partition", "my-topic-1") == [(TOPIC, "my-topic"), (PARTITION, "my-topic-1")]


def test_a_topic_is_shown_with_its_partitions_alone_whatever_dashes_its_name_has() -> None:
    assert shown("--topic", "my-topic") == [
        (TOPIC, "my-topic"), (PARTITION, "my-topic-0"), (PARTITION, "my-topic-1"),
    ]  # fmt: skip
