"""The administrator: a client that adds and removes voters, and tries again where it is refused or not answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface.inputs import Requested, Source
from raft.state.roles import Leader
from records.codec import decode, encode
from records.errors import Error
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from simulations.world.voter_sets import with_room
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.properties.voter_sets import Changes
    from simulations.world.ledger import Ledger
    from simulations.world.process import Node, Process
    from simulations.world.voter_sets import Key, Voters
    from simulations.world.world import World

FIRST_CONNECTION = 1_000_000
"""Connections of the administrator have the numbers below -FIRST_CONNECTION: no other client has such a number."""

_VERSIONS: dict[type, int] = {AddRaftVoterRequest: 1, RemoveRaftVoterRequest: 0}

# Answers after which the same request may succeed later.
AGAIN = frozenset((Error.NOT_LEADER_OR_FOLLOWER, Error.REQUEST_TIMED_OUT, Error.BROKER_NOT_AVAILABLE))


class Wish(NamedTuple):
    """What the administrator wants. key: of the voter to add or to remove; ack: whether to wait for the commit."""

    kind: str
    key: Key
    ack: bool = True


class Administrator:
    """asked: the number of requests sent; answers: how often each error was answered, by kind and error."""

    def __init__(self, world: World, ledger: Ledger, changes: Changes, cluster_id: str, rng: Random) -> None:
        self._world = world
        self._ledger = ledger
        self._changes = changes
        self._cluster_id = cluster_id
        self._rng = rng
        self.asked = 0
        self._pending: dict[int, tuple[str, Key]] = {}  # by request: what may still take effect

    def want(
        self,
        wish: Wish,
        tries: int,
        wait_ms: int,
        then: Callable[[bool], None] | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Send a request until it succeeds or is not wanted any more, at most `tries` times, each after `wait_ms`.

        then: told of the end.
        """
        if not is_wanted():
            return

        def again() -> None:
            if tries > 1:
                self._world.after(wait_ms * MS, self.want, wish, tries - 1, wait_ms, then, is_wanted)
            elif then is not None:
                then(False)

        process = self.leader() if self._rng.random() < 0.9 else self._anyone()
        if process is None or (wish.kind == "remove" and not self._may_remove(wish.key)):
            again()
            return
        request = self._request(wish)
        self.asked += 1
        number = self.asked
        source = Source(-FIRST_CONNECTION - number, number)
        version = _VERSIONS[type(request)]
        request = decode(type(request), version, encode(request, version))
        self.note(number, wish.kind, wish.key)
        is_over: list[bool] = []

        def on_answer(error: int) -> None:
            if is_over:
                return
            is_over.append(True)
            if error in AGAIN:
                again()
                return
            self.forget(number)
            if then is not None:
                then(error == Error.NONE)

        self._changes.asks(process, source, request, on_answer)
        timeout_ms = 2 * process.replica.config.request_timeout_ms
        self._world.after(timeout_ms * MS, on_answer, Error.REQUEST_TIMED_OUT)
        process.receive_soon(Requested(source, request, version, "CONTROLLER"))

    def note(self, number: int, kind: str, key: Key) -> None:
        """A request of this number is sent. kind: "add" or "remove"; an autopilot's numbers are negative."""
        self._pending[number] = kind, key

    def forget(self, number: int) -> None:
        """A request takes no effect any more, or has taken it."""
        self._pending.pop(number, None)

    def pending(self, kind: str) -> set[Key]:
        """The keys of voters that requests of this kind may still add or remove."""
        return {key for each, key in self._pending.values() if each == kind}

    def leader(self) -> Process | None:
        """The leader of the highest epoch."""
        leaders = [each for each in self._listening() if isinstance(each.replica.role, Leader)]
        return max(leaders, key=lambda each: each.replica.epoch, default=None)

    def _anyone(self) -> Process | None:
        processes = self._listening()
        return processes[int(self._rng.random() * len(processes))] if processes else None

    def _listening(self) -> list[Process]:
        return [each for each in self._ledger.running() if each.is_listening and each.steps]

    def _request(self, wish: Wish) -> Any:
        node_id, directory = wish.key
        if wish.kind == "remove":
            return RemoveRaftVoterRequest(
                cluster_id=self._cluster_id, voter_id=node_id, voter_directory_id=directory
            )  # fmt: skip
        listeners = tuple(
            AddRaftVoterRequest.Listener(name=each.listener, host=each.host, port=each.port)
            for each in self._ledger.nodes[node_id].endpoints()
        )
        return AddRaftVoterRequest(
            cluster_id=self._cluster_id, timeout_ms=1000, voter_id=node_id, voter_directory_id=directory,
            listeners=listeners, ack_when_committed=wish.ack,
        )  # fmt: skip

    def _may_remove(self, key: Key) -> bool:
        """An operator does not remove a voter where too few of the others would still have their disks."""
        return all(
            sum(1 for other in each.keys if other != key and other not in self._lost_voters())
            >= (len(each.keys) - 1) // 2 + 1
            for each in self.sets_in_force()
            if key in each.keys
        )

    def may_lose(self, node: Node) -> bool:
        """Whether the disk of a node may be lost: a majority of each voter set in force is left, also after the
        removals that are under way.
        """
        if self.pending("remove"):
            return False
        sets = self.sets_in_force()
        return all(key[1].strip(b"\0") for each in sets for key in each.keys) and with_room(
            sets, self._lost_voters() | {node.key}
        )

    def sets_in_force(self) -> list[Voters]:
        """The committed voter set, and those of the logs on all disks."""
        ledger = self._ledger
        sets = {ledger.committed_voters}
        sets |= {ledger.voters(process) for process in ledger.running() if process.is_listening}
        for node in ledger.nodes.values():
            view = ledger.durable(node)
            number = view.at(view.segments_end())
            if number is not None:
                sets.add(ledger.voter_sets.at(number))
        return sorted(sets)

    def _lost_voters(self) -> set[Key]:
        """Voters whose disks are lost, of any set."""
        nodes = self._ledger.nodes
        return {
            key for each in self._ledger.voter_sets.all for key in each.keys
            if key[1].strip(b"\0") and nodes[key[0]].key != key
        }  # fmt: skip
