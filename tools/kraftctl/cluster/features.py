"""`kraftctl features preflight`: which nodes would refuse a feature level, before it is asked for (KIP-584)."""

from __future__ import annotations

import json
from typing import NamedTuple

from records.features.levels import METADATA_VERSION, find_feature, find_metadata_version, known_metadata_version
from records.java.config_error import ConfigError
from tools.command_line.progress import Progress
from tools.kraftctl.cluster.downgrade import refusal, unreadable_below
from tools.kraftctl.plain_streams import GREEN, RED
from tools.kraftctl.points.changes import time_text
from tools.kraftctl.points.entries import BROKER, CONTROLLER
from tools.kraftctl.points.places import add_place_options, place_of, read, size_of
from tools.kraftctl.points.points import START, Reading
from tools.kraftctl.running import running
from tools.kraftctl.terminal import add_verb, colour_text, parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from tools.client.quorum import View
    from tools.kraftctl.points.changes import Change
    from tools.kraftctl.points.noting_image import NotingImage
    from tools.kraftctl.points.places import Place

MS_NEVER = -1


class Blocking(NamedTuple):
    """A registered node that does not support a level. kind: broker or controller. role: what it is now.

    supported: the range of levels, such as 7-25. registered_ms: of its registration, -1 before the log that was read.
    last_seen_ms: when it last fetched from the leader, -1 unknown. remedy: the next step.
    """

    kind: str
    node_id: int
    role: str
    supported: str
    registered_ms: int
    last_seen_ms: int
    remedy: str


def run(arguments: list[str]) -> int:
    """Exit code 0: no node blocks the level. 1: it could not be checked. 2: a node blocks it, or Kafka refuses it."""
    options = arguments_parser().parse_args(arguments)
    return running("features preflight", lambda: _preflight(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl features",
        "Check whether every registered node supports a feature level. Exit code 0: nothing blocks it; 1: not\n"
        "checked; 2: nodes block it, or Kafka refuses it.",
        "kraftctl features preflight 4.4 --bootstrap-controller c1:9093,c2:9093",
        "kraftctl features preflight group.version=1 --directory /var/lib/kafka/metadata",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="preflight")
    preflight = add_verb(
        verbs, "preflight", "list the nodes that block a level, and the next step for each",
        "List each registered broker and controller that does not support a level: what it is now, when it\n"
        "registered and was last seen, and the next step. A directory does not say which nodes fetch now. For a\n"
        "metadata.version below the present one: whether Kafka refuses the downgrade, and what of the metadata\n"
        "older releases cannot read. Nothing is written.",
        "kraftctl features preflight 4.4 -c /etc/kafka/controller.properties",
        "kraftctl features preflight metadata.version=30 --bootstrap-controller c1:9093 --json",
    )  # fmt: skip
    preflight.add_argument("level", metavar="RELEASE|FEATURE=LEVEL", help="such as 4.3, 4.2-IV1 or group.version=1")
    add_place_options(preflight)
    preflight.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _preflight(options: argparse.Namespace) -> int:
    name, level = wanted_level(options.level)
    place = place_of(options)
    assert place is not None, "one is required"
    with Progress("reading", size_of(place)) as note:
        image = read(place, Reading(since=START, wanted=is_registration, note=note), "kraftctl-features")
    view = _view(place)
    now = image.features.get(name, 0)
    blockers = blocking(image, view, name, level)
    is_lower = name == METADATA_VERSION and level < now
    refused = refusal(now, level) if is_lower else None
    unreadable = unreadable_below(image, level) if is_lower else []
    shown = f"{name}={level}" + (f" ({known_metadata_version(level).name})" if name == METADATA_VERSION else "")
    if options.json:
        said = {
            "feature": name, "level": level, "current_level": now, "blocking": [each._asdict() for each in blockers],
            "refusal": refused, "unreadable": [each._asdict() for each in unreadable],
        }  # fmt: skip
        print(json.dumps(said))
        return 2 if blockers or refused else 0
    if refused:
        print(colour_text(refused, RED))
        for each in unreadable:
            say(f"{each.release}: {each.number} {each.what}")
        if not unreadable:
            print("no record needs these levels, but Kafka refuses the downgrade without reading the records")
    for node in blockers:
        print(colour_text(_line(node, name), RED))
    if blockers:
        print(f"{len(blockers)} nodes block {shown}; the level is {now}")
    if blockers or refused:
        return 2
    print(colour_text(f"no registered node blocks {shown}; the level is {now}", GREEN))
    return 0


def wanted_level(text: str) -> tuple[str, int]:
    """The feature and the level that an argument means. Raises ConfigError."""
    name, equals, level = text.partition("=")
    try:
        if not equals:
            return METADATA_VERSION, find_metadata_version(text, unstable=True).level
        if name == METADATA_VERSION:
            return name, known_metadata_version(int(level)).level
        find_feature(name)
        return name, int(level)
    except (ValueError, KeyError):
        raise ConfigError(
            f"{text}: a release such as 4.3, or FEATURE=LEVEL such as group.version=1, is expected"
        ) from None


def blocking(image: NotingImage, view: View | None, name: str, level: int) -> list[Blocking]:
    """The registered nodes that do not support the level. view: of the leader; None where there is none to ask."""
    registered = registration_times(image)
    nodes = [
        *((CONTROLLER, number, each.features) for number, each in sorted(image.controllers.items())),
        *((BROKER, number, broker.features) for number, broker in sorted(image.brokers.items())),
    ]
    blockers = []
    for kind, node_id, features in nodes:
        supported = features.get(name)
        if (supported is None and level == 0) or (supported and supported.min <= level <= supported.max):
            continue
        levels = "none" if supported is None else f"{supported.min}-{supported.max}"
        role, remedy, seen_ms = (
            _of_controller(image, view, node_id) if kind == CONTROLLER else _of_broker(image, node_id)
        )
        time_ms = registered.get((kind, node_id), MS_NEVER)
        blockers.append(Blocking(kind, node_id, role, levels, time_ms, seen_ms, remedy))
    return blockers


def registration_times(image: NotingImage) -> dict[tuple[str, int], int]:
    """Kind and id -> when the node registered last, in ms since 1970; without those before the log that was read."""
    return {
        (each.change.kind, int(each.change.name)): each.time_ms
        for each in image.changes
        if each.record.startswith("Register")
    }


def registered_text(registered_ms: int) -> str:
    """When a node registered, for a line of text. registered_ms: MS_NEVER where the log begins later."""
    return "before the log that was read" if registered_ms < 0 else time_text(registered_ms)


def _of_controller(image: NotingImage, view: View | None, node_id: int) -> tuple[str, str, int]:
    member = None if view is None else (view.voters | view.observers).get(node_id)
    is_voter = node_id in image.voters or (view is not None and node_id in view.voters)
    seen_ms = MS_NEVER if member is None else member.last_fetch_ms
    if is_voter or member is not None:
        return ("voter" if is_voter else "observer"), "install the new release there, and restart it", seen_ms
    if view is None:
        return "not a voter of the log", "ask a live quorum (--bootstrap-controller) whether it fetches", seen_ms
    return "neither voter nor observer", f"if it is gone: kraftctl controllers prune --id {node_id}", seen_ms


def _of_broker(image: NotingImage, node_id: int) -> tuple[str, str, int]:
    if image.brokers[node_id].fenced:
        return (
            "fenced",
            f"if it is gone: kafka-cluster unregister --bootstrap-server HOST:PORT --id {node_id}",
            MS_NEVER,
        )
    return "active", "install the new release there, and restart it", MS_NEVER


def is_registration(change: Change) -> bool:
    """Whether a change is one of a registered node."""
    return change.kind in (BROKER, CONTROLLER)


def _view(place: Place) -> View | None:
    """The leader's view, of a live quorum."""
    if not place.addresses:
        return None
    from tools.kraftctl.cluster.quorum_calls import Quorum

    return Quorum(list(place.addresses), "kraftctl-features", place.security).look()


def _line(each: Blocking, name: str) -> str:
    registered = registered_text(each.registered_ms)
    seen = "" if each.last_seen_ms < 0 else f", last seen {time_text(each.last_seen_ms)}"
    return (
        f"{each.kind} {each.node_id} ({each.role}) supports {name} {each.supported}: registered {registered}{seen}; "
        f"next: {each.remedy}"
    )
