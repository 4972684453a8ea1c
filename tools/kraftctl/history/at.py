"""`kraftctl at OFFSET|TIME [PATH]`: the metadata as it was."""

from __future__ import annotations

import json
import sys
import time

from records.plain_text import plain_text
from tools.command_line.progress import Progress
from tools.kraftctl.points.changes import fields_text, plain_value, time_text, value_text
from tools.kraftctl.points.entries import PARTITION, TOPIC, fields_of, key_order
from tools.kraftctl.points.places import add_place_options, place_of, read, size_of
from tools.kraftctl.points.points import POINT_HELP, NoPoint, Reading, parse_point
from tools.kraftctl.running import running
from tools.kraftctl.terminal import parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tools.kraftctl.points.noting_image import NotingImage

# Kind -> where its entries are in the tree; the names are those of kafka-metadata-shell.
_PLACES = {
    "feature": ("features",), "broker": ("cluster", "brokers"), "controller": ("cluster", "controllers"),
    "voter": ("cluster", "voters"), "config": ("configs",), "quota": ("clientQuotas",), "acl": ("acls", "byId"),
    "scram": ("scram",), "token": ("delegationToken",), "producer-ids": ("producerIds",),
}  # fmt: skip


class Leaf(dict[str, "Any"]):
    """The fields of an entry: a node of the tree without nodes below it."""


def run(arguments: list[str]) -> int:
    """Exit code 0: shown. 1: the point or the path is not there."""
    options = arguments_parser().parse_args(arguments)
    return running("at", lambda: _show(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl at",
        "Show the metadata as it was at an offset or a time: the whole tree, or what a PATH of it names.\n"
        "An offset is exclusive: at 100 are the records below it. Secrets are hidden. Nothing is written.",
        "kraftctl at 2026-11-22T16:00:00Z /image/topics/byName/orders --directory /var/lib/kafka/metadata",
        "kraftctl at 2h '/image/cluster/brokers/*' --bootstrap-controller c1:9093,c2:9093 --json",
    )
    top.add_argument("point", metavar="OFFSET|TIME", help=POINT_HELP + "; `end` for the end")
    top.add_argument("path", metavar="PATH", nargs="?", default="/", help="as in kafka-metadata-shell; * and ? match")
    add_place_options(top)
    top.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _show(options: argparse.Namespace) -> int:
    place = place_of(options)
    assert place is not None, "one is required"
    with Progress("reading", size_of(place)) as note:
        reading = Reading(parse_point(options.point, int(time.time() * 1000)), note=note)
        image = read(place, reading, "kraftctl-at")
    nodes = find_nodes({"image": tree_of(image, options.path)}, options.path)
    if not nodes:
        raise NoPoint(f"{options.path}: no such path at offset {image.last_offset + 1}")
    if options.json:
        print(json.dumps({
            "end_offset": image.last_offset + 1, "epoch": image.last_epoch, "time_ms": image.last_time_ms,
            "found": {path: _plain(node) for path, node in nodes.items()}, "problems": image.problems,
        }))  # fmt: skip
        return 0
    for problem in image.problems:
        print(f"warning: {plain_text(problem)}", file=sys.stderr)
    print(f"offset {image.last_offset + 1}, epoch {image.last_epoch}, {time_text(image.last_time_ms)}", file=sys.stderr)
    if len(nodes) == 1 and not is_directory(next(iter(nodes.values()))):
        say(*_lines(next(iter(nodes.values())), ""))
    else:
        say(*_lines(nodes, ""))
    return 0


def tree_of(image: NotingImage, path: str = "/") -> dict[str, Any]:
    """The tree of an image: directories are dicts, entries are leaves, and a topic has its id as a text.

    path: of the topics and partitions only those that it may name are in the tree; there may be millions.
    """
    root: dict[str, Any] = {
        "provenance": f"offset {image.last_offset}, epoch {image.last_epoch}, time {time_text(image.last_time_ms)}"
    }
    by_name: dict[str, Any] = {}
    wanted = names_of(path)
    has_topics = may_name(wanted, 1, "topics") and may_name(wanted, 2, "byName")
    for table in image.value_tables():
        if table.kind in (TOPIC, PARTITION) and not (has_topics and may_name(wanted, 3, table.topic)):
            continue
        if table.kind == TOPIC:
            by_name[table.topic] = {"id": table.topic_id}
        elif table.kind == PARTITION:
            for number in sorted(table.values):
                if may_name(wanted, 4, str(number)):
                    by_name[table.topic][str(number)] = Leaf(fields_of(PARTITION, number, table.values[number]))
        else:
            for key in sorted(table.values, key=key_order):
                node = root
                for name in _PLACES[table.kind]:
                    node = node.setdefault(name, {})
                node[table.name_of(key)] = Leaf(fields_of(table.kind, key, table.values[key]))
    root["topics"] = {"byName": by_name}
    return root


def names_of(path: str) -> list[str]:
    """The names of a path; / and /image are the whole tree, and /image may be left out."""
    names = [name for name in path.split("/") if name not in ("", ".")]
    return names if names[:1] == ["image"] else ["image", *names]


def may_name(names: list[str], depth: int, name: str) -> bool:
    """Whether a path leads to a node of this name at this depth, or through it."""
    from fnmatch import fnmatchcase

    return len(names) <= depth or names[depth] == name or fnmatchcase(name, names[depth])


def find_nodes(tree: dict[str, Any], path: str) -> dict[str, Any]:
    """The nodes that a path names, by their paths."""
    from fnmatch import fnmatchcase

    nodes: dict[str, Any] = {"": tree}
    for name in names_of(path):
        nodes = {
            f"{above}/{each}": node[each]
            for above, node in nodes.items()
            if isinstance(node, dict)
            for each in ([name] if name in node else [one for one in node if fnmatchcase(one, name)])
        }
    return nodes


def is_directory(node: Any) -> bool:
    """Whether a node of the tree has nodes below it."""
    return isinstance(node, dict) and not isinstance(node, Leaf)


def _lines(node: Any, indent: str) -> list[str]:
    if not isinstance(node, dict):
        return [f"{indent}{value_text(node)}"]
    if isinstance(node, Leaf):
        return [f"{indent}{fields_text(node)}"]
    lines = []
    for name, child in node.items():
        if is_directory(child):
            lines += [f"{indent}{value_text(name)}:", *_lines(child, indent + "  ")]
        else:
            lines.append(f"{indent}{value_text(name)}: {''.join(_lines(child, ''))}")
    return lines


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _plain(child) for name, child in node.items()}
    return plain_value(node)
