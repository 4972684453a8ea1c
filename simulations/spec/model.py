"""A small world over the real core: three replicas, their disks, the messages in flight, and all possible next actions.

A state is a value; an action leads from one to the next. There is no clock: any timeout may expire at any moment, as
often as the scope allows. As in the driver, a connection carries one request at a time, and a new request to a peer
ends the connection of an unanswered one.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from records.messages.elections import VoteRequest, VoteResponse
from simulations.spec.machines import NOBODY, NODES, Batch, Laboratory, Machine, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulations.spec.machines import Event, Reaction, Sent


class Scope(NamedTuple):
    """How much may happen. epochs: the highest; records: that clients write; ticks: how often time passes at a node;
    losses: of messages; copies: how often a request arrives twice; crashes: of single nodes; in_flight: messages in
    flight at one time, above which the oldest is lost. led: whether it begins with node 1 leading, and the others
    caught up. changes: of the voter set, each adds or removes one node at any leader; voters: how many nodes are the
    first voters of a quorum with dynamic voters, the others are observers; 0 for three static voters. crash_of,
    lose_of: of a part of a scope, the one node that may crash, whose messages may be lost; 0 for any.
    """

    epochs: int = 2
    records: int = 1
    ticks: int = 3
    losses: int = 1
    copies: int = 0
    crashes: int = 1
    in_flight: int = 4
    led: bool = False
    changes: int = 0
    voters: int = 0
    crash_of: int = 0
    lose_of: int = 0


class Message(NamedTuple):
    """A message in flight. form: its contents, by number."""

    sender: int
    receiver: int
    is_answer: bool
    form: int


class Ghost(NamedTuple):
    """Facts of the past that no node keeps: leaders by epoch, granted votes, committed batches."""

    leaders: tuple[tuple[int, int], ...] = ()
    votes: tuple[tuple[int, int, int], ...] = ()
    committed: tuple[Batch, ...] = ()


class State(NamedTuple):
    """The world. machines: of the nodes, in their order; left: what the scope still allows."""

    machines: tuple[Machine, ...]
    messages: tuple[Message, ...]
    ghost: Ghost
    left: Scope


class Broken(Exception):
    """A property is violated. property_id: as in the simulation."""

    def __init__(self, property_id: str, text: str) -> None:
        super().__init__(f"{property_id}: {text}")
        self.property_id = property_id


class World:
    """The possible actions and their results; reactions of machines are remembered, and computed once."""

    def __init__(self, scope: Scope) -> None:
        """Make the worlds of a scope. Raises ValueError where the scope has more voters than nodes, or changes of
        static voters.
        """
        if scope.voters > len(NODES) or (scope.changes and not scope.voters):
            raise ValueError(f"voters={scope.voters}, changes={scope.changes}; changes need 1 to {len(NODES)} voters")
        self.scope = scope
        self.laboratory = Laboratory(NODES[: scope.voters] if scope.voters else None)
        self._digests: dict[Message | Ghost, bytes] = {}
        self._actions: dict[str, Callable[[State, int], State]] = {
            "deliver": self._deliver, "copy": self._copy, "lose": self._lose, "tick": self._tick, "wait": self._wait,
            "write": self._write, "flush": self._flush, "crash": self._crash, "change": self._change,
        }  # fmt: skip

    def first(self) -> State:
        """Three nodes that were formatted and have just started; or the state after a run without faults."""
        machines = tuple(self.laboratory.boot(node, None, ()).machine for node in NODES)
        state = State(machines, (), Ghost(), self.scope._replace(in_flight=len(NODES) ** 2))
        if not self.scope.led:
            return state._replace(left=self.scope)
        while not self._is_at_rest(state):
            state = self._go_well(state)
        return state._replace(left=self.scope)

    def _is_at_rest(self, state: State) -> bool:
        """Node 1 leads, and both others wait for its records, and know all to be committed."""
        leader, *others = state.machines
        return (
            leader.is_leader
            and len(leader.owed) == len(others)
            and not state.messages
            and len({(machine.committed, machine.log, machine.disk_log) for machine in state.machines}) == 1
        )

    def _go_well(self, state: State) -> State:
        """The next action of a run without faults."""
        for machine in state.machines:
            if machine.waits_for_disk:
                return self._flush(state, machine.node)
        if state.messages:
            return self._deliver(state, 0)
        for machine in state.machines:
            if state.machines[0].is_leader and not machine.replica.is_voter:
                return self._step(state, machine.node, ("tick", 0, 0))
        return self._step(state, NODES[0], ("wait", 0, 0))

    def fingerprint(self, state: State) -> int:
        """64 bits: equal for states that behave alike, in all processes; for others with a chance of one in 2^64."""
        one, two, three = state.machines
        left = state.left
        parts = [self._digest(message) for message in state.messages]
        parts.sort()
        parts += (
            one.digest, two.digest, three.digest, self._digest(state.ghost),
            bytes((left.records, left.ticks, left.losses, left.copies, left.crashes, left.changes)),
        )  # fmt: skip
        return int.from_bytes(blake2b(b"".join(parts), digest_size=8).digest(), "big", signed=True)

    def _digest(self, part: Message | Ghost) -> bytes:
        digest = self._digests.get(part)
        if digest is None:
            said = part
            if isinstance(part, Message):
                said = (*part[:3], self.laboratory.digest(part.form))  # type: ignore[assignment]
            digest = self._digests[part] = digest_of(said)
        return digest

    def actions(self, state: State) -> Iterator[tuple[str, int]]:
        """All possible next actions: name, and the node or the index of the message; of a change, the leader and the
        node, as the two digits of a number.
        """
        left = state.left
        for place in range(len(state.messages)):
            yield "deliver", place
        for machine in state.machines:
            if machine.waits_for_disk:
                yield "flush", machine.node
        if left.ticks:
            yield from (("wait", node) for node in NODES)
            yield from (("tick", node) for node in NODES)
        if left.records:
            for machine in state.machines:
                if machine.is_leader:
                    yield "write", machine.node
        if left.changes:
            for machine in state.machines:
                if machine.is_leader:
                    yield from (("change", 10 * machine.node + node) for node in NODES)
        if left.crashes:
            yield from (("crash", node) for node in NODES if left.crash_of in {0, node})
        if left.losses:
            for place, message in enumerate(state.messages):
                if left.lose_of in {0, message.sender}:
                    yield "lose", place
        if left.copies:
            for place, message in enumerate(state.messages):
                if not message.is_answer:
                    yield "copy", place

    def after(self, state: State, name: str, argument: int) -> State | None:
        """The state after an action; None if it leads out of the scope. Raises Broken, AssertionError."""
        following = self._actions[name](state, argument)
        if name == "change" and following.machines == state.machines:
            return None  # it is refused
        return None if any(machine.epoch > self.scope.epochs for machine in following.machines) else following

    def says(self, state: State, name: str, argument: int) -> str:
        """An action as text."""
        if name in {"deliver", "lose", "copy"}:
            message = state.messages[argument]
            body = self.laboratory.body(message.form)
            return f"{name} {type(body).__name__} from {message.sender} to {message.receiver}"
        if name == "change":
            leader, node = divmod(argument, 10)
            verb = "remove" if node in state.machines[leader - 1].voters else "add"
            return f"leader {leader} is to {verb} node {node}"
        return f"{name} node {argument}"

    # What may happen

    def _deliver(self, state: State, place: int) -> State:
        message = state.messages[place]
        state = state._replace(messages=_without(state.messages, place))
        event = ("answer" if message.is_answer else "request", message.sender, message.form)
        return self._step(state, message.receiver, event)

    def _copy(self, state: State, place: int) -> State:
        """A request arrives also on another connection, whose answers are not read."""
        message = state.messages[place]
        state = state._replace(left=state.left._replace(copies=state.left.copies - 1))
        return self._step(state, message.receiver, ("request", NOBODY, message.form))

    def _lose(self, state: State, place: int) -> State:
        """The connection of a message breaks, and the requester gets a failure."""
        message = state.messages[place]
        left = state.left._replace(losses=state.left.losses - 1)
        state = state._replace(messages=_without(state.messages, place), left=left)
        asker, other = (message.receiver, message.sender) if message.is_answer else (message.sender, message.receiver)
        return self._step(state, asker, ("failed", other, 0))

    def _tick(self, state: State, node: int) -> State:
        """Time passes at a node until something is due there."""
        left = state.left._replace(ticks=state.left.ticks - 1)
        return self._step(state._replace(left=left), node, ("tick", 0, 0))

    def _wait(self, state: State, node: int) -> State:
        """Time passes at a node until it times out: for an election, a leader, a majority."""
        left = state.left._replace(ticks=state.left.ticks - 1)
        return self._step(state._replace(left=left), node, ("wait", 0, 0))

    def _write(self, state: State, node: int) -> State:
        """A client of the leader writes a record; its value has the leader and the number."""
        left = state.left._replace(records=state.left.records - 1)
        return self._step(state._replace(left=left), node, ("write", left.records, 0))

    def _change(self, state: State, place: int) -> State:
        """An administrator has a leader add or remove a voter; its answer is not read."""
        leader, node = divmod(place, 10)
        left = state.left._replace(changes=state.left.changes - 1)
        return self._step(state._replace(left=left), leader, ("change", node, 0))

    def _flush(self, state: State, node: int) -> State:
        """Everything pending is written to the disk of a node, which gets the inputs for that."""
        return self._step(state, node, ("flush", 0, 0))

    def _crash(self, state: State, node: int) -> State:
        """Unsynced data is lost, and the messages in flight to the node; it restarts."""
        machine = state.machines[node - 1]
        left = state.left._replace(crashes=state.left.crashes - 1)
        messages = tuple(message for message in state.messages if message.receiver != node)
        reaction = self.laboratory.boot(node, machine.election, machine.disk_log)
        return self._react(state._replace(messages=messages, left=left), node, reaction)

    def _step(self, state: State, node: int, event: Event) -> State:
        return self._react(state, node, self.laboratory.react(state.machines[node - 1], event))

    def _react(self, before: State, node: int, reaction: Reaction) -> State:
        """The world after the reaction of a node: connections of repeated requests end, and its
        messages are in flight.
        """
        state = before._replace(machines=_with(before.machines, reaction.machine))
        for peer in reaction.hung_up:
            state = self._hang_up(state, node, peer)
        messages = tuple(Message(node, *each) for each in reaction.sent if each.peer != NOBODY)
        state = state._replace(messages=(*state.messages, *messages)[-state.left.in_flight :])
        return self._check(before, state, node, reaction.sent)

    def _hang_up(self, state: State, asker: int, peer: int) -> State:
        """The connection of a requester to a peer ends: its messages in flight, and requests that
        wait there, are lost.
        """
        kept = tuple(
            message
            for message in state.messages
            if (message.sender, message.receiver, message.is_answer) not in {(asker, peer, False), (peer, asker, True)}
        )
        machine = state.machines[peer - 1]
        if asker in machine.owed:
            machine = self.laboratory.react(machine, ("disconnected", asker, 0)).machine
        return state._replace(machines=_with(state.machines, machine), messages=kept)

    # What must always hold

    def _check(self, before: State, state: State, node: int, sent: tuple[Sent, ...]) -> State:
        """The same state, with the new facts for `Ghost`. Raises Broken."""
        machine = state.machines[node - 1]
        ghost = state.ghost
        if machine.is_leader:
            ghost = _note_leader(ghost, machine.epoch, node)
        for each in sent:
            if each.is_answer:
                ghost = self._note_vote(ghost, before, each, node)
        ghost = _note_commit(ghost, state, machine)
        if machine.voter_sets:
            _follows_its_log(machine, before.machines[node - 1])
        for other in state.machines:
            if other is not machine:
                _match(machine, other)
        return state if ghost is state.ghost else state._replace(ghost=ghost)

    def _note_vote(self, ghost: Ghost, before: State, answer: Sent, node: int) -> Ghost:
        """A vote that is sent: the only one of its node and epoch. It may be held back until it is on disk, so the
        request says for which epoch.
        """
        body = self.laboratory.body(answer.form)
        if type(body) is not VoteResponse or not body.topics or not body.topics[0].partitions[0].vote_granted:
            return ghost
        if answer.peer == NOBODY:
            return ghost
        asked = before.machines[answer.peer - 1].asked.get(node)
        if not isinstance(asked, VoteRequest) or asked.topics[0].partitions[0].pre_vote:
            return ghost
        vote = (node, int(body.topics[0].partitions[0].leader_epoch), answer.peer)
        for other in ghost.votes:
            if other[:2] == vote[:2] and other != vote:
                raise Broken("S02", f"node {node} votes for {vote[2]} and for {other[2]} in epoch {vote[1]}")
        return ghost if vote in ghost.votes else ghost._replace(votes=tuple(sorted((*ghost.votes, vote))))


def _without(messages: tuple[Message, ...], place: int) -> tuple[Message, ...]:
    return messages[:place] + messages[place + 1 :]


def _with(machines: tuple[Machine, ...], machine: Machine) -> tuple[Machine, ...]:
    return (*machines[: machine.node - 1], machine, *machines[machine.node :])


def _note_leader(ghost: Ghost, epoch: int, node: int) -> Ghost:
    known = dict(ghost.leaders)
    if known.get(epoch, node) != node:
        raise Broken("S01", f"epoch {epoch} has two leaders, {known[epoch]} and {node}")
    if epoch in known:
        return ghost
    return ghost._replace(leaders=tuple(sorted({**known, epoch: node}.items())))


def _note_commit(ghost: Ghost, state: State, machine: Machine) -> Ghost:
    """Committed records stay; if there are more than ever, a majority of the leader's voters has them on disk."""
    held = tuple(batch for batch in machine.log if batch.end_offset <= machine.committed)
    known = ghost.committed
    if held[: len(known)] != known[: len(held)]:
        raise Broken("S06", f"node {machine.node} has other batches below {machine.committed} than were committed")
    if len(held) > len(known):
        voters = [other for other in state.machines if other.node in machine.voters]
        holders = sum(1 for other in voters if other.disk_log[: len(held)] == held)
        if holders <= len(voters) // 2:
            raise Broken("S07", f"{machine.committed} is committed, and {holders} of {len(voters)} disks hold it")
        ghost = ghost._replace(committed=held)
    if machine.is_leader and machine.log[: len(ghost.committed)] != ghost.committed and _is_newest(ghost, machine):
        raise Broken("S05", f"leader {machine.node} of epoch {machine.epoch} lacks what is committed")
    return ghost


def _is_newest(ghost: Ghost, machine: Machine) -> bool:
    """A former leader need not have the records that a later one committed."""
    return machine.epoch >= max(epoch for epoch, _ in ghost.leaders)


def _follows_its_log(machine: Machine, before: Machine) -> None:
    """The newest voter set of the log counts; and a leader appends one only where the one before is committed, and a
    record of its own epoch is.
    """
    if machine.replica.log.end != (machine.log[-1].end_offset if machine.log else 0):
        return  # an append or a truncation waits for a save
    offset, ids = machine.voter_sets[-1]
    if machine.voters != ids:
        raise Broken("S30", f"node {machine.node} follows the voters {machine.voters}; its log has {ids} at {offset}")
    if not machine.is_leader or machine.voter_sets == before.voter_sets:
        return
    former, voters = machine.voter_sets[-2]
    if voters == ids:
        return  # the first batch of an epoch repeats them
    text = f"node {machine.node}, leader of epoch {machine.epoch}, appends the voters {ids}"
    if former >= machine.committed:
        raise Broken("S19", f"{text}; the voters {voters} at {former} are not committed")
    if not any(batch.epoch == machine.epoch and batch.end_offset <= machine.committed for batch in machine.log):
        raise Broken("S19", f"{text}, and has not committed a record of its epoch")


def _match(one: Machine, other: Machine) -> None:
    """Where two logs have a batch of one offset and epoch, they are equal up to there."""
    if one.log == other.log:
        return
    for place in range(min(len(one.log), len(other.log)) - 1, -1, -1):
        if one.log[place][:3] == other.log[place][:3]:
            if one.log[: place + 1] != other.log[: place + 1]:
                raise Broken("S04", f"logs differ below {one.log[place].end_offset}, where they have the same epoch")
            return
