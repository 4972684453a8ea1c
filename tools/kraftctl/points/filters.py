"""Which changes `diff`, `history` and `watch` show: of a topic, a partition, a broker, a config, or of some kinds."""

from __future__ import annotations

from tools.kraftctl.points.entries import ACL, BROKER, CONFIG, CONFIG_TYPES, KINDS, PARTITION, TOPIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from tools.kraftctl.points.changes import Change


def add_filter_options(parser: argparse.ArgumentParser) -> None:
    """The filters. A change is shown if it matches one of those that are given, and one of the kinds."""
    parser.add_argument(
        "--topic", action="append", default=[], metavar="NAME|ID", help="the topic, its partitions, configs and ACLs"
    )
    parser.add_argument(
        "--partition",
        action="append",
        default=[],
        metavar="TOPIC-N",
        help="the partition, and its topic's creation and deletion",
    )
    parser.add_argument("--broker", action="append", default=[], metavar="ID", help="the broker and its configs")
    parser.add_argument(
        "--config", dest="configs", action="append", default=[], metavar="TYPE:NAME", type=_config_name,
        help="configs, such as topic:orders, broker:1, broker:default, group:g",
    )  # fmt: skip
    parser.add_argument("--type", action="append", default=[], choices=KINDS, metavar="KIND", help=", ".join(KINDS))


def _config_name(text: str) -> str:
    if text.partition(":")[0] not in CONFIG_TYPES.values():
        from argparse import ArgumentTypeError

        expected = ", ".join(f"{kind}:NAME" for kind in CONFIG_TYPES.values())
        raise ArgumentTypeError(f"{text}: {expected} is expected; a controller.properties is given with -c")
    return text


def make_filter(options: argparse.Namespace) -> Callable[[Change], bool]:
    """The predicate that the options mean."""
    topics, partitions, brokers = set(options.topic), set(options.partition), set(options.broker)
    configs, kinds = set(options.configs), set(options.type)
    is_all = not (topics or partitions or brokers or configs)

    def is_wanted(change: Change) -> bool:
        if kinds and change.kind not in kinds:
            return False
        return (
            is_all
            or (bool(topics) and of_topics(change, topics))
            or (bool(partitions) and of_partitions(change, partitions))
            or (change.kind == BROKER and change.name in brokers)
            or (change.kind == CONFIG and (change.name in configs or _is_named(change, "broker", brokers)))
        )

    return is_wanted


def of_topics(change: Change, topics: set[str]) -> bool:
    """Whether a change concerns one of the topics, given by name or id."""
    if change.kind == TOPIC:
        return change.name in topics or change.topic_id in topics
    if change.kind == PARTITION:
        return change.name.rpartition("-")[0] in topics or change.topic_id in topics
    if change.kind == ACL:
        fields = change.after or change.before or {}
        return fields["resource_type"] == "TOPIC" and fields["resource_name"] in topics
    return change.kind == CONFIG and _is_named(change, "topic", topics)


def of_partitions(change: Change, partitions: set[str]) -> bool:
    """Whether a change is one of these partitions, or the creation or deletion of their topics."""
    if change.kind == PARTITION:
        return change.name in partitions
    return change.kind == TOPIC and any(change.name == each.rpartition("-")[0] for each in partitions)


def _is_named(change: Change, kind: str, names: set[str]) -> bool:
    resource_type, _, name = change.name.partition(":")
    return resource_type == kind and name in names
