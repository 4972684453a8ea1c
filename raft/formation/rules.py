"""What a controller with an empty disk does after it asked all bootstrap servers for their state once.

DESIGN.md, "The formation of a quorum", has the protocol and why there can be only one quorum.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from records.uuids import is_reserved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class InitialController(NamedTuple):
    """A controller with an empty disk. host, port: of its first controller listener, as advertised."""

    node_id: int
    directory_id: bytes
    host: str
    port: int


def is_possible(controller: InitialController) -> bool:
    """Whether a peer or a file tells of a controller that there can be."""
    if controller.node_id < 0 or is_reserved(controller.directory_id) or not 0 < controller.port < 1 << 16:
        return False
    return 0 < len(controller.host.encode(errors="replace")) <= HOST_MAX and controller.host.isprintable()


class Sign(NamedTuple):
    """A request that only a node with metadata sends, of a quorum that has not formed with this controller's disk.

    cluster_id: of that node. leads: whether it leads its quorum. text: what was asked by whom, for people.
    """

    cluster_id: str
    leads: bool
    text: str


class Unformatted(NamedTuple):
    """A controller whose disk is not formatted.

    saved: the initial controllers that it has saved, ascending by id; empty if none. expect: of its configuration;
    cluster_id: that of its configuration, empty if it has none.
    former: what it had saved before, and replaced; sign: of another quorum, None while there is none; is_listening:
    whether it has served for too short a time to know. These it tells nobody.
    """

    controller: InitialController
    saved: tuple[InitialController, ...]
    expect: int
    cluster_id: str = ""
    former: tuple[tuple[InitialController, ...], ...] = ()
    sign: Sign | None = None
    is_listening: bool = False


class Formatted(NamedTuple):
    """A controller that belongs to a quorum."""

    cluster_id: str


class Silent(NamedTuple):
    """A bootstrap server that does not answer. reason: for people."""

    reason: str


HOST_MAX = 255  # bytes of a name in the domain name system
CLUSTER_ID_MAX = 200  # characters of one that anybody may tell, in a reason
REMEDY = "If no quorum was formed before, stop all controllers, and remove their files kraft-formation.json"

Answer = Unformatted | Formatted | Silent


class Save(NamedTuple):
    """Save these initial controllers, and ask again."""

    controllers: tuple[InitialController, ...]


class Form(NamedTuple):
    """Format the disk as a voter of the quorum of these initial controllers."""

    cluster_id: str
    controllers: tuple[InitialController, ...]


class Join(NamedTuple):
    """Format the disk as an observer of the quorum that exists."""

    cluster_id: str


class Wait(NamedTuple):
    """Ask again later. reason: what is missing, for people."""

    reason: str


Decision = Save | Form | Join | Wait


def decide(own: Unformatted, answers: Mapping[str, Answer]) -> Decision:
    """What to do after one round. own: the state since before the round began; answers: by `host:port`, of this round
    alone: an answer of an earlier round may be older than what this controller has saved.
    """
    formatted = {answer.cluster_id: address for address, answer in answers.items() if isinstance(answer, Formatted)}
    if formatted:
        return _join(own, formatted)
    if own.sign is not None:
        return _wait_by_sign(own.sign)
    there: dict[int, Unformatted] = {}
    for address, answer in answers.items():
        if isinstance(answer, Unformatted):
            node_id = answer.controller.node_id
            if there.setdefault(node_id, answer).controller.directory_id != answer.controller.directory_id:
                return Wait(f"two controllers have node.id={node_id}, one of them at {address}")
    wrong = _find_disagreement(own, there)
    if wrong:
        return Wait(wrong)
    if len(there) != own.expect:
        return Wait(_count_text(own, there, answers))
    controllers = tuple(sorted(answer.controller for answer in there.values()))
    if own.saved != controllers:
        if own.is_listening:
            return Wait("it listens for requests of a quorum that exists, before it saves the initial controllers")
        others = [answer.saved for answer in there.values() if answer.saved not in ((), controllers)]
        return _save(own, controllers, has_others=bool(others))
    late = sorted(node_id for node_id, answer in there.items() if answer.saved != controllers)
    if late:
        return Wait(f"controllers {_list_ids(late)} have not saved the initial controllers yet")
    return Form(own.cluster_id or cluster_id_of(controllers), controllers)


def _join(own: Unformatted, formatted: Mapping[str, str]) -> Form | Join | Wait:
    if len(formatted) > 1:
        others = ", ".join(f"{cluster_id} at {address}" for cluster_id, address in sorted(formatted.items()))
        return Wait(f"the bootstrap servers belong to different clusters: {others}")
    ((cluster_id, address),) = formatted.items()
    if own.cluster_id not in ("", cluster_id):
        return Wait(
            f"{address} belongs to the cluster {cluster_id}, and kraft.quorum.bootstrap.cluster.id is {own.cluster_id}"
        )
    if own.saved and not own.cluster_id and cluster_id == cluster_id_of(own.saved):
        # It is among the voters of this quorum. As an observer it could not elect a leader if the controller that
        # formed it loses its disk. A given cluster id does not say who the voters are.
        return Form(cluster_id, own.saved)
    return Join(cluster_id)


def _wait_by_sign(sign: Sign) -> Wait:
    """Nobody tells of a quorum, but one exists: its voters that have lost their disks may be a majority.

    A request proves nothing, so this controller joins nothing by it, even where a leader sent it.
    """
    cluster_id = sign.cluster_id[:CLUSTER_ID_MAX]
    repair = "Repair that one (kraftctl recover)"
    if sign.leads:
        command = "kafka-storage format --no-initial-controllers"
        repair = f"It has a leader: stop this controller, and format it with that cluster id to join ({command})"
    return Wait(
        f"a quorum of the cluster {cluster_id} exists: {sign.text}. No second one is formed. {repair}, or give it up: "
        "stop its nodes, and restart this controller"
    )


def _find_disagreement(own: Unformatted, there: Mapping[int, Unformatted]) -> str:
    """What this controller and the others do not have in common; empty if nothing."""
    node_id = own.controller.node_id
    if node_id not in there:
        return f"none of the bootstrap servers is this controller (node.id={node_id})"
    if there[node_id].controller.directory_id != own.controller.directory_id:
        return f"another controller has node.id={node_id}, too"
    owners: dict[bytes, int] = {}
    for other_id, other in there.items():
        first = owners.setdefault(other.controller.directory_id, other_id)
        if first != other_id:
            return f"controllers {first} and {other_id} have the same directory id: one disk is a copy of the other"
        if (other.expect, other.cluster_id) != (own.expect, own.cluster_id):
            return (
                f"controller {other.controller.node_id} expects {other.expect} controllers and the cluster id "
                f"{other.cluster_id or '(any)'}, and this one {own.expect} and {own.cluster_id or '(any)'}"
            )
    return ""


def _count_text(own: Unformatted, there: Mapping[int, Unformatted], answers: Mapping[str, Answer]) -> str:
    if len(there) > own.expect:
        return (
            f"{len(there)} controllers with empty disks are there ({_list_ids(there)}), and "
            f"kraft.quorum.bootstrap.expect is {own.expect}: stop those that are to join later"
        )
    text = f"{len(there)} of {own.expect} controllers are there ({_list_ids(there)})"
    silent = [
        f"{address}: {answer.reason}" for address, answer in sorted(answers.items()) if isinstance(answer, Silent)
    ]
    return "; ".join((text, *silent))


def _save(own: Unformatted, controllers: tuple[InitialController, ...], *, has_others: bool) -> Save | Wait:
    """Save these, unless a majority of the saved ones may have formed a quorum.

    has_others: whether one of the controllers has saved others.
    """
    if own.cluster_id and has_others:
        # By a given cluster id a controller cannot know later which of the two have become the quorum.
        return Wait(f"other initial controllers are saved than those that are there now. {REMEDY}")
    replaced = {controller.node_id for controller in controllers}
    gone = [each.node_id for each in own.saved if each.node_id not in replaced]
    if gone:
        return Wait(f"controllers {_list_ids(gone)} are among the saved initial controllers, and are not there")
    disks = {controller.directory_id for controller in controllers}
    for before in (own.saved, *own.former):
        lost = [each.node_id for each in before if each.directory_id not in disks]
        # A quorum of those needs a majority of them: some of it would be there, and formatted.
        if lost and len(lost) >= len(before) // 2 + 1:
            return Wait(
                f"the disks of {_list_ids(lost)} are empty again, a majority of the saved initial controllers: they "
                f"may have been a quorum, whose records would be lost. {REMEDY}"
            )
    return Save(controllers)


def cluster_id_of(controllers: Iterable[InitialController]) -> str:
    """The cluster id of these initial controllers: a hash of them. Their directory ids are random."""
    text = "".join(
        f"{each.node_id} {each.directory_id.hex()} {each.host}:{each.port}\n" for each in sorted(controllers)
    )
    for number in count():
        digest = blake2b(f"{text}{number}".encode(), digest_size=16).digest()
        cluster_id = urlsafe_b64encode(digest).decode().rstrip("=")
        if not cluster_id.startswith("-"):  # a command line would take it for an option
            return cluster_id
    raise AssertionError("unreachable")


def _list_ids(ids: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(ids)))
