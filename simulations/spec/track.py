"""The state that the validator keeps for one process of a replica, besides the node of the specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.state.roles import Follower
from simulations.spec.values import FOLLOWER, NOBODY, UNKNOWN, Disk, Election, Log, Node
from simulations.world.voter_sets import Voters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from raft.interface.inputs import Source
    from raft.state.replica import Replica
    from simulations.spec.values import Rules
    from simulations.world.process import Process


class Seen(NamedTuple):
    """The observable state of a replica after a step, in the terms of `Node`. durable: of its log's end."""

    role: str
    epoch: int
    leader: int
    voted: int
    start: int
    end: int
    last_epoch: int
    durable: int
    watermark: int
    committed: int
    fetched: bool


def see(replica: Replica) -> Seen:
    """The observable state of a replica."""
    role, log = replica.role, replica.log
    leader_id, voted, watermark = role.leader_id, role.voted, replica.high_watermark
    return tuple.__new__(Seen, (
        type(role).__name__, role.epoch, NOBODY if leader_id is None else leader_id,
        NOBODY if voted is None else voted.id, log.start, log.end, log.last_epoch, log.durable_end,
        UNKNOWN if watermark is None else watermark, log.committed,
        isinstance(role, Follower) and role.state.has_fetched,
    ))  # fmt: skip


def expected_state(node: Node) -> Seen:
    """The observable state of a node of the specification."""
    role, log = node.role, node.log
    start, start_epoch, runs = log
    last_epoch, end = runs[-1] if runs else (start_epoch, start)
    return tuple.__new__(Seen, (
        role, node.epoch, node.leader, node.voted, start, end, last_epoch, node.disk.holds(log),
        node.watermark, node.committed, role == FOLLOWER and node.fetched,
    ))  # fmt: skip


def node_of(replica: Replica) -> Node:
    """The node of the specification for a replica's present state, as far as the answers to its
    requests depend on it.
    """
    seen, log = see(replica), replica.log
    return Node(
        replica.key.id, replica.key.directory_id, *seen[:4],
        log_of(log.start, log.end, log.epochs, log.snapshots), Disk(), 0,
        sets=(voters_of(replica),), fetched=seen.fetched, leaving=replica.shutting_down,
        snapshots=tuple((each.id.epoch, each.id.end_offset, each.size) for each in log.snapshots),
    )  # fmt: skip


def log_of(start: int, end: int, starts: Iterable[tuple[int, int]], snapshots: Iterable[Any]) -> Log:
    """A log by the first offset of each of its epochs: (epoch, offset), ascending."""
    epochs = [entry for entry in starts if entry[1] < end]
    ends = [*(offset for _, offset in epochs[1:]), end]
    runs = tuple((epoch, until) for (epoch, _), until in zip(epochs, ends, strict=False))
    below = [each.id.epoch for each in snapshots if each.id.end_offset <= start]
    return Log(start, below[-1] if below and start else 0, runs)


def voters_of(replica: Replica) -> Voters:
    """The voter set that a replica follows, as `Node` has it."""
    voters, last = replica.voters, replica.voter_sets.last()
    return Voters(
        tuple((voter.key.id, voter.key.directory_id) for voter in voters),
        tuple(voter.endpoints[0].host for voter in voters),
        UNKNOWN if last is None else last[0],
    )  # fmt: skip


def election_of(node: Node) -> Election:
    """The state that a node must save."""
    return Election(node.epoch, node.leader, node.voted)


class Sent(NamedTuple):
    """A request that is not answered. token: the role that sent it; is_exact: whether it was sent unchanged."""

    number: int
    at_ms: int
    token: int
    is_exact: bool
    request: Any


class Owed(NamedTuple):
    """An expected answer. exact: its contents; None for a Fetch that may wait, then `fetch` is the request, and its
    comparison with the log. candidate: of a Vote that is not a pre-vote. change: of a change of the voter set, what was
    asked for; errors: those that it may be answered with; waits: until it is committed.
    """

    exact: tuple[Any, ...] | None
    fetch: Any = None
    candidate: int | None = None
    change: Any = None
    errors: frozenset[int] = frozenset()
    waits: bool = False


class Track:
    """node: of the specification, now; seen, role: as the replica was seen last.

    owed: answers, by their receivers; sent: the newest request to each peer; token: counts roles; earlier: nodes for
    which something may still wait for a save. notified: the offset up to which the state machine was notified.
    questions: voters that fetched since each request for confirmed leadership. sets_at: the voter sets of the committed
    records up to an offset. entry: the newest voter set of the replica with its offset, as it was seen last; effects:
    of the step that is being checked.
    """

    def __init__(
        self, process: Process, rules: Rules, node: Node, sets_at: Callable[[int], tuple[Voters, ...]] | None = None
    ) -> None:
        self.process = process
        self.rules = rules
        self.node = node
        self.sets_at = sets_at
        self.entry: Any = ()
        self.effects: Sequence[Any] = ()
        self.seen: Seen | None = None
        self.role: Any = None
        self.owed: dict[Source, Owed] = {}
        self.sent: dict[int, Sent] = {}
        self.token = 0
        self.was_saving = False
        self.earlier: list[Node] = []
        self.notified = UNKNOWN
        self.questions: dict[int, set[int]] = {}
        self.freezes: dict[int, tuple[int, int]] = {}
        self.last_action = ""

    def reaches(self, leader: int, named: Any) -> bool:
        """Whether a leader can be reached: the message that names it, or the voter set, has its address."""
        return leader != NOBODY and (bool(named) or leader in self.node.voters.ids)
