"""The watch of a world: passes each event to the properties, which check it, and to the trace, which records it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.properties.answers import Answers
from simulations.properties.commits import Commits
from simulations.properties.elections import Elections
from simulations.properties.handovers import Handovers
from simulations.properties.identity import Identity
from simulations.properties.logs import Logs
from simulations.properties.periodic_work import PeriodicWork
from simulations.properties.progress import Progress
from simulations.properties.promptness import Promptness
from simulations.properties.recovery import Recovery
from simulations.properties.roles import Roles
from simulations.properties.snapshots import Snapshots
from simulations.properties.voter_sets import Changes
from simulations.spec.validator import Validator
from simulations.world.trace import ARRIVAL, ASKED, CUT, DEED, LIFE, MESSAGE, NOTE, STEP

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.config import SnapshotId
    from raft.interface.inputs import Answered, Requested
    from raft.interface.recovered import Recovered
    from raft.state.roles import Role
    from simulations.coverage.seen import Seen
    from simulations.outcomes.closeup import OnDetail
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process
    from simulations.world.trace import Trace
    from simulations.world.world import World
    from simulations.world.writes import Replay, State


class Watch:
    """Called by processes and network; raises Violation from the event at which a property is violated.

    steps: of all nodes; notes: how often each was seen, by name. details: takes details that are in no trace, for a
    page of this run. seen: counts events, if requested.
    """

    def __init__(self, world: World, ledger: Ledger, trace: Trace) -> None:
        self.world = world
        self.ledger = ledger
        self.trace = trace
        self.commits = Commits(ledger)
        self.elections = Elections(ledger)
        self.recovery = Recovery(ledger)
        self.progress = Progress(ledger, world)
        self.validator = Validator(ledger, world)
        self.answers = Answers(ledger, world)
        self.changes = Changes(ledger, world, self.answers)
        periodic_work = PeriodicWork(ledger, world, self.elections)
        # Logs first: it keeps the shadows that the others look at.
        promptness = Promptness(ledger, world, periodic_work)
        properties: tuple[Any, ...] = (
            Logs(ledger), self.elections, Roles(ledger), self.commits, self.recovery, Snapshots(ledger),
            Identity(ledger), self.progress, self.answers,
            periodic_work, promptness, Handovers(ledger, world, promptness), self.changes,
        )  # fmt: skip
        self.on_detail: OnDetail | None = None
        self.seen: Seen | None = None
        self.steps = 0
        self.notes: dict[str, int] = {}
        self._on_started = _methods(properties, "on_started")
        self._on_recovered = _methods(properties, "on_recovered")
        self._on_became = _methods(properties, "became")
        self._on_stepped = _methods(properties, "on_stepped")
        self._on_noted = _methods(properties, "on_noted")
        self._on_input = _tables(properties, "inputs")
        self._on_performs = _tables(properties, "performs")
        self._on_asked = _tables(properties, "asked")
        self._on_took = _tables(properties, "took")
        self._on_leaves = _tables(properties, "leaves")
        self._roles: dict[int, Role | None] = {}  # node id: the role last looked at

    # Starts and ends of processes

    def on_started(self, process: Process) -> None:
        self.trace.add((self.world.now, LIFE, process.node.id, "starts", process.life))
        self._roles[process.node.id] = None
        for act in self._on_started:
            act(process)

    def on_recovered(self, process: Process, recovered: Recovered) -> None:
        election = recovered.election
        saved_election = None if election is None else (election.epoch, election.leader_id)
        entry = (
            self.world.now,
            LIFE,
            process.node.id,
            "recovered",
            recovered.log_start,
            recovered.log_end,
            saved_election,
        )
        self.trace.add(entry)
        for act in self._on_recovered:
            act(process, recovered)
        self.validator.on_recovered(process, recovered)  # it reads the voters in the shadow of the log

    def on_ended(self, process: Process, how: str) -> None:
        self.trace.add((self.world.now, LIFE, process.node.id, how, process.life))
        self.ledger.shadows.pop(process.node.id, None)
        self.validator.on_ended(process)

    def on_start_refused(self, process: Process, error: Exception) -> None:
        self.trace.add((self.world.now, LIFE, process.node.id, "refuses to start", str(error)))
        self.recovery.on_start_refused(process, error)

    def on_failed(self, process: Process, error: Exception) -> None:
        """A process is about to stop, since its disk failed."""
        self.on_noted(process, "disk_failed", {"reason": str(error)})
        self.recovery.on_failed(process, error)

    # Steps

    def on_asked(self, process: Process, frame: Frame, requested: Requested) -> None:
        """A request is about to be handled."""
        for act in self._on_asked.get(frame.name, ()):
            act(process, frame, requested)

    def took_request(self, process: Process, frame: Frame, requested: Requested) -> None:
        """A request was handled, unless the node had failed and accepts no input any more."""
        if process.has_failed:
            return
        for act in self._on_took.get(frame.name, ()):
            act(process, frame, requested)

    def on_answered(self, process: Process, frame: Frame, answered: Answered) -> None:
        self.elections.on_answered(process, frame, answered)

    def on_stepped(self, process: Process, name: str, event: Any, effects: list[Any]) -> None:
        """A step was taken, by an input or, with None, by the start; its effects are performed afterwards."""
        replica = process.replica
        role, log, node_id = replica.role, replica.log, process.node.id
        self.steps += 1
        self.trace.add((
            self.world.now, STEP, node_id, name, type(role).__name__, role.epoch, log.end, replica.high_watermark,
            len(effects), log.durable_end,
        ))  # fmt: skip
        self.validator.on_stepped(process, name, event, effects)
        for act in self._on_input.get(type(event), ()):
            act(process, event, effects)
        was = self._roles[node_id]
        if role is not was:
            self._roles[node_id] = role
            for act in self._on_became:
                act(process, was, role)
        for act in self._on_stepped:
            act(process)
        if self.seen is not None:
            self.seen.on_stepped(process, event, effects)

    def performs(self, process: Process, effect: Any) -> None:
        for act in self._on_performs.get(type(effect), ()):
            act(process, effect)

    def on_noted(self, process: Process, name: str, fields: dict[str, Any]) -> None:
        self.notes[name] = self.notes.get(name, 0) + 1
        self.trace.add((self.world.now, NOTE, process.node.id, name, str(fields)))
        for act in self._on_noted:
            act(process, name, fields)
        if self.seen is not None:
            self.seen.moments.on_noted(process, name, fields)

    def leaves(self, connection: Connection, frame: Frame, is_answer: bool) -> None:
        """A message is sent."""
        client, server = connection.client.node.id, connection.server
        other = 0 if server is None else server.node.id
        sender, target = (other, client) if is_answer else (client, other)
        self.trace.add((self.world.now, MESSAGE, sender, target, frame.name, *frame.gist))
        for act in self._on_leaves.get(frame.name, ()):
            act(connection, frame, is_answer)

    def arrives(self, connection: Connection, frame: Frame, is_answer: bool) -> None:
        """A message reaches a process that accepts it."""
        client, server = connection.client.node.id, connection.server
        other = 0 if server is None else server.node.id
        sender, target = (other, client) if is_answer else (client, other)
        self.trace.add((self.world.now, ARRIVAL, target, sender, frame.name, frame.sent_at))

    def on_link_changed(self, source: int, target: int, is_cut: bool) -> None:
        """A link was cut, or healed."""
        self.trace.add((self.world.now, CUT, source, target, is_cut))

    # The state machines

    def on_applied(self, process: Process, offset: int, epoch: int, replay: Replay) -> None:
        self.commits.on_applied(process, offset, epoch, replay)

    def on_loaded(self, process: Process, snapshot: SnapshotId, state: State) -> None:
        self.trace.add((self.world.now, DEED, process.node.id, "loads", *snapshot))
        self.commits.on_loaded(process, snapshot, state)

    def wrote(self, process: Process, numbers: tuple[int, ...], end_offset: int) -> None:
        """A client has sent a write, and waits."""
        if self.on_detail is not None:
            self.on_detail((self.world.now, ASKED, process.node.id, end_offset, *numbers))

    def on_acknowledged(self, process: Process, numbers: tuple[int, ...], end_offset: int) -> None:
        self.trace.add((self.world.now, DEED, process.node.id, "acknowledges", *numbers))
        self.commits.on_acknowledged(numbers, end_offset)

    def on_questioned(self, process: Process, number: int) -> None:
        self.trace.add((self.world.now, DEED, process.node.id, "asks whether it leads", number))
        self.commits.on_questioned(process, number)

    def on_confirmed(self, process: Process, number: int, epoch: int, applied: int) -> None:
        self.trace.add((self.world.now, DEED, process.node.id, "is confirmed", number))
        self.commits.on_confirmed(process, number, epoch, applied)


def _methods(properties: tuple[Any, ...], name: str) -> list[Callable[..., None]]:
    return [getattr(each, name) for each in properties if hasattr(each, name)]


def _tables(properties: tuple[Any, ...], name: str) -> dict[Any, list[Callable[..., None]]]:
    """The methods in one of the properties' tables: by class of an input or effect, or by name of a message."""
    methods: dict[Any, list[Callable[..., None]]] = {}
    for each in properties:
        for key, act in getattr(each, name, {}).items():
            methods.setdefault(key, []).append(act)
    return methods
