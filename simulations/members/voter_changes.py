"""Changes of the voters (KIP-853): an administrator adds, removes and replaces them, nodes get other addresses, and
kraft.version is raised. They are no faults themselves, but happen while faults do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.autopilot.view import Rules
from raft.state.roles import Leader
from simulations.faults.table import FaultKind, Scale, down, pick, span
from simulations.faults.targets import find
from simulations.members.administrator import Wish
from simulations.members.autopilots import Autopilots
from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from random import Random

    from simulations.members.world import MembersWorld
    from simulations.world.process import Node, Process

Args = dict[str, Any]


def _observers(run: MembersWorld) -> list[Node]:
    voters = run.ledger.committed_voters
    return [node for node in run.nodes.values() if not voters.holds(node.key)]


def _find(run: MembersWorld, whom: int | str, struck: Process | None) -> Node | None:
    """As `find`; observer: the node with the lowest id that is no committed voter."""
    if whom == "observer":
        return next(iter(_observers(run)), None)
    return find(run, whom, struck)


def add_voter(run: MembersWorld, args: Args, struck: Process | None) -> bool:
    """The administrator adds a node. tries: how often at most, each wait_ms after the last; ack: whether it waits for
    the commit; twice: two administrators do it at once.
    """
    node = _find(run, args["whom"], struck)
    if node is None:
        return False
    for _ in range(2 if args["twice"] else 1):
        run.want(Wish("add", node.key, args["ack"]), args["tries"], args["wait_ms"])
    return True


def remove_voter(run: MembersWorld, args: Args, struck: Process | None) -> bool:
    """The administrator removes a voter, perhaps the leader. tries, wait_ms, twice: as of `add_voter`."""
    node = _find(run, args["whom"], struck)
    if node is None:
        return False
    for _ in range(2 if args["twice"] else 1):
        run.want(Wish("remove", node.key), args["tries"], args["wait_ms"])
    return True


def replace_voter(run: MembersWorld, args: Args, struck: Process | None) -> bool:
    """A node loses its disk and gets an empty one, with another directory id; the administrator removes the former
    voter, and adds the new one. down_ms: until it is started; tries, wait_ms: of each request.
    """
    node = _find(run, args["whom"], struck)
    if node is None:
        return False

    def empty() -> None:
        if not run.administrator.may_lose(node):
            return
        key = node.key
        _empty(run, node)
        run.count("replace_voter:done")
        node.start_after(args["down_ms"] * MS)
        tries, wait_ms = args["tries"], args["wait_ms"]

        def add(_is_removed: bool) -> None:
            run.want(Wish("add", node.key), tries, wait_ms, again)

        def again(_is_added: bool) -> None:
            run.want(Wish("remove", key), 1, wait_ms)  # a client that had no answer asks for the former voter again

        run.want(Wish("remove", key), tries, wait_ms, add)

    run.later(0, empty)
    return True


def lose_disk(run: MembersWorld, args: Args, struck: Process | None) -> bool:
    """A node loses its disk and gets an empty one, as with `replace_voter`; nobody asks for a change of the voters.
    down_ms: until it is started.
    """
    node = _find(run, args["whom"], struck)
    if node is None:
        return False

    def empty() -> None:
        if run.administrator.may_lose(node) and run.autopilots is not None and run.autopilots.may_lose(node):
            _empty(run, node)
            run.count("lose_disk:done")
            node.start_after(args["down_ms"] * MS)

    run.later(0, empty)
    return True


def _empty(run: MembersWorld, node: Node) -> None:
    node.kill()
    node.new_disk()
    run.on_disk_replaced(node)
    run.make_observer(node)


def begin_autopilots(run: MembersWorld, args: Args, _struck: Process | None) -> bool:
    """The nodes `ids` have an autopilot from now on; the other args are its rules, times in ms."""
    rules = Rules(
        enabled=True, live_ms=args["live_ms"], stabilization_ms=args["stabilization_ms"],
        dead_after_ms=args["dead_after_ms"], voters_max=args["voters_max"],
        zones={int(node): zone for node, zone in args["zones"].items()},
    )  # fmt: skip
    run.autopilots = Autopilots(run, run.administrator, args["ids"], args["look_ms"], rules)
    return True


def leave(run: MembersWorld, args: Args, struck: Process | None) -> bool:
    """A node stops, and leaves the voter set first if enough healthy voters stay. down_ms: until it is started."""
    node = _find(run, args["whom"], struck)
    if node is None or run.autopilots is None:
        return False
    run.later(0, run.autopilots.leave, node, args["down_ms"])
    return True


def rename_voter(run: MembersWorld, args: Args, struck: Process | None) -> bool:
    """A node is stopped, and started at another address; its former one refuses connections until the faults end.
    down_ms: until it is started.
    """
    node = _find(run, args["whom"], struck)
    if node is None:
        return False

    def move() -> None:
        node.kill()
        run.network.move(node)
        run.count("rename_voter:done")
        node.start_after(args["down_ms"] * MS)

    run.later(0, move)
    return True


def rename_all(run: MembersWorld, args: Args, _struck: Process | None) -> bool:
    """All nodes are stopped, and started at other addresses, which the operator has written into the bootstrap servers
    of each. down_ms: until the first is started; apart_ms: from one start to the next.
    """
    if not run.plan.kraft_version:
        return False  # static voters are in the configuration of each node

    def move() -> None:
        run.rename_all()
        run.count("rename_all:done")
        for place, node in enumerate(run.nodes.values()):
            node.start_after((args["down_ms"] + place * args["apart_ms"]) * MS)

    run.later(0, move)
    return True


def raise_version(run: MembersWorld, _args: Args, _struck: Process | None) -> bool:
    """kraft.version is raised from 0 to 1, if all voters have told the leader that they support it."""
    run.later(0, _raise, run)
    return True


def _raise(run: MembersWorld) -> None:
    leaders = [each for each in run.ledger.running() if each.steps and isinstance(each.replica.role, Leader)]
    leader = max(leaders, key=lambda each: each.replica.epoch, default=None)
    if leader is not None and leader.is_awake and leader.machine.upgrade():
        run.count("raise_version:done")


def _whom(rng: Random, scale: Scale) -> int | str:
    role: str = pick(rng, ("", "leader", "follower", "struck"))
    return role or pick(rng, scale.ids)


def _draw_request(rng: Random, scale: Scale) -> Args:
    return {"tries": pick(rng, (1, 3, 10, 30)), "wait_ms": max(span(rng, scale) // 4, 1), "twice": rng.random() < 0.2}


def _add(rng: Random, scale: Scale) -> Args:
    whom = "observer" if rng.random() < 0.7 else pick(rng, scale.ids)
    return {"whom": whom, "ack": rng.random() < 0.7, **_draw_request(rng, scale)}


def _remove(rng: Random, scale: Scale) -> Args:
    return {"whom": _whom(rng, scale), **_draw_request(rng, scale)}


def _replace(rng: Random, scale: Scale) -> Args:
    return {
        "whom": _whom(rng, scale), "down_ms": down(rng, scale), "tries": pick(rng, (3, 10, 30)),
        "wait_ms": between(rng, 1, scale.timeouts_ms[0]),
    }  # fmt: skip


def _rename(rng: Random, scale: Scale) -> Args:
    return {"whom": _whom(rng, scale), "down_ms": down(rng, scale)}


def _rename_all(rng: Random, scale: Scale) -> Args:
    return {"down_ms": down(rng, scale), "apart_ms": pick(rng, (0, 1, 50, 400))}


def _nothing(_rng: Random, _scale: Scale) -> Args:
    return {}


def _lose(rng: Random, scale: Scale) -> Args:
    return {"whom": _whom(rng, scale), "down_ms": down(rng, scale)}


def _autopilot(rng: Random, scale: Scale) -> Args:
    """Rules whose times are some of the quorum's. In some worlds a part of the nodes is as stock, without autopilot."""
    fetch_timeout_ms = scale.timeouts_ms[0]
    ids = [node for node in scale.ids if rng.random() < 0.6] if rng.random() < 0.3 else list(scale.ids)
    return {
        "ids": ids, "look_ms": max(fetch_timeout_ms // 5, 1), "live_ms": fetch_timeout_ms,
        "stabilization_ms": fetch_timeout_ms * pick(rng, (1, 2, 3)),
        "dead_after_ms": fetch_timeout_ms * pick(rng, (0, 0, 2, 3, 6)), "voters_max": pick(rng, (3, 4, 5, 5, 7)),
        "zones": {str(node): pick(rng, "abcd") for node in scale.ids} if rng.random() < 0.25 else {},
    }  # fmt: skip


# Drawn for the plans of `new_names` alone: in others it would end the search for anything else.
RENAME_ALL = FaultKind("rename_all", rename_all, _rename_all, 0)  # type: ignore[arg-type]

# Drawn for the plans of autopilots alone.
AUTOPILOT = FaultKind("autopilot", begin_autopilots, _autopilot, 0)  # type: ignore[arg-type]
LOSE_DISK = FaultKind("lose_disk", lose_disk, _lose, 0)  # type: ignore[arg-type]
LEAVE = FaultKind("leave", leave, _lose, 0)  # type: ignore[arg-type]
OF_SOME_PLANS = {kind.name: kind for kind in (RENAME_ALL, AUTOPILOT, LOSE_DISK, LEAVE)}

CHANGES: dict[str, FaultKind] = {
    kind.name: kind
    for kind in (
        FaultKind("add_voter", add_voter, _add, 30),  # type: ignore[arg-type]
        FaultKind("remove_voter", remove_voter, _remove, 24),  # type: ignore[arg-type]
        FaultKind("replace_voter", replace_voter, _replace, 12),  # type: ignore[arg-type]
        FaultKind("rename_voter", rename_voter, _rename, 10),  # type: ignore[arg-type]
        FaultKind("raise_version", raise_version, _nothing, 4),  # type: ignore[arg-type]
    )
}
