"""`kraftctl controllers`: registrations of controllers that are gone (KIP-919, KIP-1312)."""

from __future__ import annotations

import json
import os
import sys
from typing import NamedTuple

from records.errors import Error
from records.features.levels import FEATURES, METADATA_VERSION
from records.features.record_versions import CONTROLLER_UNREGISTRATION
from records.messages.controllers import ControllerRegistrationRequest, UnregisterControllerRequest
from records.plain_text import plain_text
from tools.client.quorum_options import add_quorum_options, addresses_of, security_of
from tools.command_line.progress import Progress
from tools.kraftctl.cluster import drain
from tools.kraftctl.cluster.features import MS_NEVER, is_registration, registered_text, registration_times
from tools.kraftctl.cluster.quorum_calls import Quorum, refusal
from tools.kraftctl.plain_streams import GREEN, YELLOW
from tools.kraftctl.points.entries import CONTROLLER
from tools.kraftctl.points.places import read
from tools.kraftctl.points.points import START, Reading
from tools.kraftctl.running import running
from tools.kraftctl.terminal import add_verb, add_writing_options, colour_text, is_confirmed, parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from tools.client.quorum import View
    from tools.kraftctl.points.noting_image import NotingImage
    from tools.kraftctl.terminal import Parser

CLIENT_ID = "kraftctl-controllers"
UNREGISTER_API = 94
# Orchestrators give a node 30 s to stop.
DRAIN_S = 20.0
# Of an int16: whatever level a later release brings.
LEVEL_MAX = 32767
UNREGISTERED, WIDENED = "unregistered", "widened"
WARNED = (
    "The leader has no UnregisterController (Kafka 4.4), or metadata.version is too low: the registration cannot "
    "be removed. It is replaced by one without listeners that supports every level, so that it blocks nothing, and no "
    "client is sent there. Do not start such a controller again with an old release: it would stop at the first record "
    "that it does not know."
)


class Ghost(NamedTuple):
    """A registered controller that is neither voter nor observer. registered_ms: -1 before the log that was read.

    supported: feature -> least and greatest level. blocks: feature -> the levels that only it refuses.
    is_widened: whether it supports every level already, after an earlier prune.
    """

    node_id: int
    registered_ms: int
    listeners: tuple[str, ...]
    supported: dict[str, tuple[int, int]]
    blocks: dict[str, tuple[int, int]]
    is_widened: bool


def run(arguments: list[str]) -> int:
    """Exit code 0: no controller that is gone is left. 1: not done, nothing was changed. 2: not all were removed."""
    options = arguments_parser().parse_args(arguments)
    verb = {"unregister": _unregister, "prune": _prune, "drain": drain.run}[options.verb]
    return running(f"controllers {options.verb}", lambda: verb(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl controllers",
        "Take a controller out of the voters; find and remove registrations of controllers that are gone.",
        "kraftctl controllers prune --bootstrap-controller c1:9093,c2:9093 --dry-run",
        "kraftctl controllers prune --id 7 -c /etc/kafka/controller.properties",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="drain|prune|unregister")
    prune = add_verb(
        verbs, "prune", "remove registrations of controllers that are neither voters nor observers",
        "List registered controllers that are neither voters nor have fetched as observers in the last minutes:\n"
        "since when they are registered, the feature levels that they support, and which levels they block; then\n"
        "remove their registrations. From metadata.version 4.4-IV2 on they are unregistered. Below, Kafka cannot\n"
        "remove a registration: it is replaced by one without listeners that supports every level, a record that\n"
        "every Kafka 4 knows. Voters and observers are refused. A controller that starts again registers anew.\n"
        "Exit code 0: none is left; 1: not done, nothing was changed; 2: not all are done.",
        "kraftctl controllers prune --bootstrap-controller c1:9093,c2:9093 --dry-run",
        "kraftctl controllers prune --id 7 -c /etc/kafka/controller.properties --yes --json",
    )  # fmt: skip
    prune.add_argument("--id", type=int, action="append", metavar="ID", help="only this controller (repeatable)")
    add_quorum_options(prune)
    add_writing_options(prune, "list them and change nothing")
    unregister = add_verb(
        verbs, "unregister", "remove the registration of one controller, as kafka-cluster of Kafka 4.4 does",
        "Send UnregisterController for one id, whatever that controller is: it needs a leader of Kafka 4.4, stock or\n"
        "ours, and metadata.version 4.4-IV2. A controller that still runs registers anew.\n"
        "Exit code 0: it is unregistered; 1: it is not.",
        "kraftctl controllers unregister --id 7 --bootstrap-controller c1:9093,c2:9093",
    )  # fmt: skip
    unregister.add_argument("--id", type=int, required=True, metavar="ID", help="the controller")
    add_quorum_options(unregister)
    add_writing_options(unregister, "say what would be asked, and ask nothing")
    _add_drain(verbs)
    return top


def _add_drain(verbs: argparse._SubParsersAction[Parser]) -> None:
    verb = add_verb(
        verbs, "drain", "take a controller out of the voters, before it is stopped for good",
        "Remove a controller from the voters, also if it leads; it stays an observer, and no autopilot adds it again:\n"
        "the dynamic config kraft.autopilot.drained.ID is set until --undo. It is removed only if a majority is\n"
        "alive and has all committed records, also of the voters that stay. It may be run again.\n"
        "Exit code 0: it is no voter, and may be stopped; 1: it is not done.",
        "kraftctl controllers drain --id 5 -c /etc/kafka/controller.properties --yes",
        "kraftctl controllers drain --id 5 --undo --bootstrap-controller c1:9093,c2:9093",
    )  # fmt: skip
    verb.add_argument("--id", type=int, required=True, metavar="ID", help="the controller")
    verb.add_argument("--undo", action="store_true", help="it may become a voter again; it is not added now")
    verb.add_argument(
        "--timeout", type=float, default=DRAIN_S, metavar="SECONDS",
        help="how long to wait until it is removed; default: %(default)s",
    )  # fmt: skip
    add_quorum_options(verb)
    add_writing_options(verb, "check, and change nothing")


def _unregister(options: argparse.Namespace) -> int:
    quorum = Quorum(addresses_of(options), CLIENT_ID, security_of(options))
    view = quorum.look()
    if UNREGISTER_API not in quorum.features(view.address).apis:
        host, port = view.address
        raise OSError(
            f"the leader {host}:{port} has no UnregisterController: it needs Kafka 4.4, or a node of ours without "
            "kraft.release=4.3. Below, prune makes a registration block nothing"
        )
    runs = view.is_member(options.id)
    if runs and not options.json:
        print(
            colour_text(f"controller {options.id} is a member of the quorum: while it runs, it registers anew", YELLOW)
        )
    asked = not options.dry_run
    if asked:
        question = f"Remove the registration of {options.id}?"
        if not is_confirmed(question, is_given=options.yes, can_ask=not options.json):
            print("nothing was changed", file=sys.stderr)
            return 1
        answer = quorum.ask(view.address, UnregisterControllerRequest(controller_id=options.id))
        if answer.error_code:
            raise OSError(refusal("UnregisterController", answer))
    if options.json:
        print(json.dumps({"dry_run": options.dry_run, "id": options.id, "is_member": runs, "done": asked}))
    elif asked:
        print(colour_text(f"controller {options.id}: it is unregistered", GREEN))
    else:
        print(f"UnregisterController for {options.id} would be sent to the leader")
    return 0


def _prune(options: argparse.Namespace) -> int:
    quorum = Quorum(addresses_of(options), CLIENT_ID, security_of(options))
    view = quorum.look()
    with Progress("reading", 0) as note:
        image = read(quorum.place, Reading(since=START, wanted=is_registration, note=note), CLIENT_ID)
    registrations = ghosts(image, view)
    if options.id is not None:
        require_gone(options.id, image, view)
        registrations = [ghost for ghost in registrations if ghost.node_id in options.id]
    way = _way(quorum, view)
    # A registration that blocks nothing stays, unless it can be removed now.
    wanted = [ghost for ghost in registrations if way == UNREGISTERED or not ghost.is_widened]
    if not options.json:
        say(*_lines(registrations))
        if wanted and way == WIDENED:
            print(colour_text(WARNED, YELLOW))
    done: dict[int, str] = {}
    error = ""
    if wanted and not options.dry_run:
        listed = ", ".join(str(ghost.node_id) for ghost in wanted)
        if not is_confirmed(f"Remove the registrations of {listed}?", is_given=options.yes, can_ask=not options.json):
            print("nothing was changed", file=sys.stderr)
            return 1
        error = _remove_all(quorum, [ghost.node_id for ghost in wanted], way, image, done)
    left = [ghost.node_id for ghost in wanted if ghost.node_id not in done]
    return _report(options, registrations, done, left, error)


def _remove_all(quorum: Quorum, nodes: list[int], way: str, image: NotingImage, done: dict[int, str]) -> str:
    """Remove each registration that is still none of a voter or observer. done: filled; returns the first error."""
    try:
        for node_id in nodes:
            # It may have been started since it was listed.
            view = quorum.look()
            require_gone([node_id], image, view)
            done[node_id] = remove(quorum, view, node_id, way, image)
    except OSError as error:
        if not done:
            raise
        return str(error)
    return ""


def _report(
    options: argparse.Namespace, registrations: list[Ghost], done: dict[int, str], left: list[int], error: str
) -> int:
    if options.json:
        said = {
            "dry_run": options.dry_run,
            "ghosts": [ghost._asdict() for ghost in registrations],
            "done": done,
            "error": error,
        }
        print(json.dumps(said))
    else:
        for node_id, way in done.items():
            text = "it is unregistered" if way == UNREGISTERED else "its registration blocks no level any more"
            print(colour_text(f"controller {node_id}: {text}", GREEN))
    if error:
        print(
            f"kraftctl controllers prune: {plain_text(error)}; not done: {', '.join(map(str, left))}",
            file=sys.stderr,
        )
    return 2 if left else 0


def ghosts(image: NotingImage, view: View) -> list[Ghost]:
    """The registered controllers that are neither voters nor observers. view: of the leader."""
    times = registration_times(image)
    staying = [each for number, each in image.controllers.items() if number in view.voters]
    registrations = []
    for number, each in sorted(image.controllers.items()):
        if view.is_member(number):
            continue
        supported = {name: (levels.min, levels.max) for name, levels in each.features.items()}
        blocks = {}
        for name in sorted({name for voter in staying for name in voter.features}):
            # What all voters support is refused because of this one.
            highest = min(voter.features[name].max if name in voter.features else 0 for voter in staying)
            least = supported.get(name, (0, 0))[1] + 1
            if least <= highest:
                blocks[name] = (least, highest)
        listeners = tuple(f"{name}://{where.host}:{where.port}" for name, where in sorted(each.listeners.items()))
        is_widened = supported.get(METADATA_VERSION, (0, 0))[1] == LEVEL_MAX
        registrations.append(
            Ghost(number, times.get((CONTROLLER, number), MS_NEVER), listeners, supported, blocks, is_widened)
        )
    return registrations


def require_gone(nodes: Iterable[int], image: NotingImage, view: View) -> None:
    """Check that nodes are gone. Raises OSError unless each is registered, and neither a voter nor an observer."""
    for node_id in nodes:
        if node_id in view.voters:
            raise OSError(
                f"controller {node_id} is a voter (voters: {', '.join(map(str, sorted(view.voters)))}): its "
                "registration stays. To take it out: kafka-metadata-quorum remove-controller"
            )
        if node_id in view.observers:
            raise OSError(
                f"controller {node_id} is an observer, which has fetched from the leader in the last minutes: stop it "
                "first, and wait until the leader forgets it (5 minutes)"
            )
        if node_id not in image.controllers:
            registered = ", ".join(map(str, sorted(image.controllers))) or "none"
            raise OSError(f"controller {node_id} is not registered (registered: {registered})")


def _way(quorum: Quorum, view: View) -> str:
    """UNREGISTERED if the leader serves UnregisterController, and metadata.version has its record; else WIDENED."""
    has = quorum.features(view.address)
    can = UNREGISTER_API in has.apis and has.finalized.get(METADATA_VERSION, 0) >= CONTROLLER_UNREGISTRATION
    return UNREGISTERED if can else WIDENED


def remove(quorum: Quorum, view: View, node_id: int, way: str, image: NotingImage) -> str:
    """Remove one registration; in which way it was done. Raises OSError with the leader's words."""
    if way == UNREGISTERED:
        answer = quorum.ask(view.address, UnregisterControllerRequest(controller_id=node_id))
        if not answer.error_code:
            return UNREGISTERED
        if answer.error_code != Error.UNSUPPORTED_VERSION:  # metadata.version does not have the record yet
            raise OSError(refusal("UnregisterController", answer))
    answer = quorum.ask(view.address, wide_registration(node_id, os.urandom(16), image))
    if answer.error_code:
        raise OSError(refusal("ControllerRegistration", answer))
    return WIDENED


def wide_registration(node_id: int, incarnation_id: bytes, image: NotingImage) -> ControllerRegistrationRequest:
    """A registration that blocks nothing: without listeners, and with all levels of every known feature."""
    names = {METADATA_VERSION, "kraft.version", *(feature.name for feature in FEATURES), *image.features}
    names |= {name for controller in image.controllers.values() for name in controller.features}
    return ControllerRegistrationRequest(
        controller_id=node_id, incarnation_id=incarnation_id, zk_migration_ready=False, listeners=(),
        features=tuple(
            ControllerRegistrationRequest.Feature(
                name=name, min_supported_version=0, max_supported_version=LEVEL_MAX
            )
            for name in sorted(names)
        ),
    )  # fmt: skip


def _lines(registrations: list[Ghost]) -> list[str]:
    if not registrations:
        return ["every registered controller is a voter or an observer"]
    lines = []
    for ghost in registrations:
        since = registered_text(ghost.registered_ms)
        where = ", ".join(ghost.listeners) or "without listeners"
        lines.append(f"controller {ghost.node_id} ({where}): registered {since}, neither voter nor observer")
        if ghost.is_widened:
            lines.append("  it supports every level, since an earlier prune: it blocks nothing")
            continue
        ranges = ", ".join(f"{name} {low}-{high}" for name, (low, high) in sorted(ghost.supported.items()))
        lines.append(f"  it supports {ranges or 'no feature'}")
        for name, (low, high) in ghost.blocks.items():
            lines.append(f"  it blocks {name} {low}{f' to {high}' if high > low else ''}, which all voters support")
    return lines
