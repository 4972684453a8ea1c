"""One replica of the quorum: its state, and the few ways in which it changes.

What the rules of each message do, they do through the methods here, so that what must be saved is saved before
anything rests on it, and what leaves, leaves in order.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from raft.config import Voter
from raft.effects import (
    AdvanceLogStart,
    Append,
    Effect,
    HighWatermark,
    LeaderChanged,
    LoadSnapshot,
    Noted,
    ResetLog,
    SaveElection,
    SaveEpochs,
    Send,
    Truncate,
    VotersChanged,
)  # fmt: skip
from raft.limits import NEVER
from raft.log_view import LogView
from raft.peers import Peers
from raft.roles import Leader, Resigned, Role, check_change
from raft.voters import History, VoterSet, endpoint_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from raft.config import Endpoint, RaftConfig, ReplicaKey, SnapshotId
    from raft.recovered import Recovered


class Replica:
    """A voter or observer. key: its own, with its directory id; static_voters: of `controller.quorum.voters`; voters:
    the set in force, and is_voter: whether it is in it.

    deadline_ms: when it must be stepped at the latest. high_watermark: None where unknown, as in each new leadership.
    told: up to where the state machine was told that it may read; -1 before anything. stopped: shutdown is complete.
    """

    __slots__ = (
        "_effects", "_held", "_leader_told", "_saved", "_saved_as", "_saves", "_saving", "clean_deadline_ms",
        "cleaning", "config", "deadline_ms", "freezing", "high_watermark", "is_voter", "key", "kraft_versions", "log",
        "parts", "peers", "recovered", "rng", "role", "shutting_down", "static_voters", "stopped", "told",
        "voter_sets", "voters", "wall_offset_ms",
    )  # fmt: skip

    role: Role

    def __init__(
        self, config: RaftConfig, key: ReplicaKey, static_voters: VoterSet, recovered: Recovered, rng: Random
    ) -> None:
        self.config = config
        self.key = key
        self.static_voters = static_voters
        self.recovered = recovered
        self.rng = rng
        self.log = LogView(recovered)
        self.voter_sets: History[VoterSet] = History(recovered.voter_sets)
        self.kraft_versions: History[int] = History(recovered.kraft_versions)
        self.voters = self._last_voters()
        self.is_voter = self.voters.holds(key)
        self.peers = Peers(max(config.request_timeout_ms, 1), config.retry_backoff_ms, self._bootstrap())
        self.high_watermark: int | None = None
        self.told = -1
        self.deadline_ms = 0
        self.clean_deadline_ms = NEVER
        self.cleaning = 0
        self.freezing: tuple[int, SnapshotId] | None = None
        self.parts = 0
        self.shutting_down = False
        self.stopped = False
        self.wall_offset_ms = 0
        self._effects: list[Effect] = []
        self._held: deque[tuple[int, Effect]] = deque()
        self._saves = self._saved = 0
        self._saved_as: tuple[Any, ...] = ()
        self._saving: int | None = None  # where in _effects the save of this step is
        self._leader_told: tuple[int, int | None] = (0, None)

    # What others read

    @property
    def epoch(self) -> int:
        return self.role.epoch

    @property
    def leader_id(self) -> int | None:
        return self.role.leader_id

    @property
    def kraft_version(self) -> int:
        """The level of the feature kraft.version in the log, 0 where nothing says so."""
        last = self.kraft_versions.last()
        return 0 if last is None else last[1]

    def control_state_at(self, end_offset: int) -> tuple[int, VoterSet | None]:
        """What the first batch of a snapshot that ends here says: kraft.version, and the voter set.

        None for the set where the log has none, as with static voters.
        """
        return self.kraft_versions.at(end_offset - 1) or 0, self.voter_sets.at(end_offset - 1)

    def endpoint_of(self, voter_id: int) -> Endpoint | None:
        """Where a voter is reached on the listener of this quorum."""
        return endpoint_of(self.voters.endpoints(voter_id), self.config.listener)

    def own_voter(self) -> Voter:
        """What this replica's own entry in a voter set should say."""
        return Voter(self.key, self.config.endpoints, self.config.kraft_versions)

    def election_timeout(self) -> int:
        """Between once and twice the election timeout, by luck, so that two rarely stand at once."""
        timeout = max(self.config.election_timeout_ms, 1)
        return timeout + self.rng.randrange(timeout)

    # What leaves

    def emit(self, effect: Effect) -> None:
        """An order to the driver. While an election is being saved it waits, and all after it.

        So no message leaves that tells of what is not on disk, and nothing overtakes.
        """
        if self._saved < self._saves:
            self._held.append((self._saves, effect))
        else:
            self._effects.append(effect)

    def note(self, name: str, **fields: Any) -> None:
        self.emit(Noted(name, fields))

    def send(self, peer: int, endpoint: Endpoint, request: Any, now_ms: int) -> None:
        self.emit(Send(peer, self.peers.sent(peer, request, now_ms), endpoint, request))

    def saved(self, number: int) -> None:
        """A `SaveElection` is on disk: what waited for it may leave."""
        self._saved = max(self._saved, number)
        while self._held and self._held[0][0] <= self._saved:
            self._effects.append(self._held.popleft()[1])

    def take_effects(self) -> list[Effect]:
        """What the step that ends now wants done."""
        effects = self._effects
        self._effects = []
        self._saving = None
        return effects

    # What changes

    def become(self, role: Role, *, keep_requests: bool = False) -> None:
        """Take another role: the one way in which epoch, leader and vote change.

        keep_requests: answers to what was asked in the old role still count.
        """
        old = getattr(self, "role", None)
        check_change(old, role)
        self.role = role
        if isinstance(role, (Leader, Resigned)):
            self.high_watermark = None
        if not keep_requests:
            self.peers.reset()
        self._save(role)
        if old is not None:
            self.note(
                "role_changed",
                was=type(old).__name__,
                now=type(role).__name__,
                epoch=role.epoch,
                leader_id=role.leader_id,
            )

    def _save(self, role: Role) -> None:
        form = (role.epoch, role.leader_id, role.voted, self.kraft_version, self.voters.ids)
        if form == self._saved_as:
            return  # it is on disk, or on its way there
        self._saved_as = form
        if self._saving is None:
            self._saves += 1
            self._saving = len(self._effects)
            self._effects.append(SaveElection(self._saves, *form))
        else:
            # Roles that last for no longer than a step need not be saved: what comes of them waits for the last one.
            self._effects[self._saving] = SaveElection(self._saves, *form)

    def append(self, base_offset: int, end_offset: int, epoch: int, data: bytes) -> None:
        """The log goes on with whole batches of one epoch."""
        assert base_offset == self.log.end, f"an append at {base_offset}, the log ends at {self.log.end}"
        number, epochs_changed = self.log.append(end_offset, epoch)
        self.emit(Append(number, base_offset, end_offset, epoch, data))
        self._save_epochs(epochs_changed)

    def assign_epoch(self, epoch: int) -> None:
        """An epoch starts at the end of the log, before it has a record."""
        self._save_epochs(self.log.assign(epoch))

    def truncate(self, end_offset: int) -> None:
        """The log ends earlier, and so does what it says of voters."""
        number, epochs_changed = self.log.truncate(end_offset)
        self.emit(Truncate(number, end_offset))
        self._save_epochs(epochs_changed)
        self._truncate_control()

    def flushed(self, number: int, end_offset: int, size: int) -> None:
        """Operations of the log are on disk."""
        if self.log.flushed(number, end_offset, size):
            self._save_epochs(changed=True)
        self._truncate_control()

    def reset_log(self, snapshot: SnapshotId, voters: VoterSet | None, kraft_version: int | None) -> None:
        """The log is empty and starts at a snapshot, whose control records hold."""
        self.emit(ResetLog(self.log.reset(snapshot), snapshot))
        self._save_epochs(changed=True)
        self.voter_sets.restart(snapshot.end_offset - 1, voters)
        self.kraft_versions.restart(snapshot.end_offset - 1, kraft_version)
        self._voters_may_differ()

    def advance_log_start(self, start_offset: int) -> int:
        """Drop what a snapshot holds; returns the number of the operation."""
        number, epochs_changed = self.log.advance_start(start_offset)
        self.emit(AdvanceLogStart(number, start_offset))
        self._save_epochs(epochs_changed)
        return number

    def take_control(self, values: Iterable[tuple[int, VoterSet | int]]) -> None:
        """Control records were appended: they hold from now on, committed or not (KIP-853)."""
        for offset, value in values:
            if isinstance(value, VoterSet):
                self.voter_sets.add(offset, value)
            else:
                self.kraft_versions.add(offset, value)
        self._voters_may_differ()

    def _save_epochs(self, changed: bool) -> None:
        if changed:
            self.emit(SaveEpochs(tuple(self.log.epochs)))

    def _truncate_control(self) -> None:
        self.voter_sets.truncate(self.log.end)
        self.kraft_versions.truncate(self.log.end)
        self._voters_may_differ()

    def _voters_may_differ(self) -> None:
        voters = self._last_voters()
        if voters is self.voters or voters == self.voters:
            return
        self.voters = voters
        self.is_voter = voters.holds(self.key)
        if isinstance(self.role, Leader):
            self.role.state.follow(voters)
        self.emit(VotersChanged(tuple(voters)))

    def _last_voters(self) -> VoterSet:
        last = self.voter_sets.last()
        return self.static_voters if last is None else last[1]

    def _bootstrap(self) -> list[tuple[int, Endpoint]]:
        """Whom to ask for the leader: the bootstrap servers, numbered -2, -3 …, else the other static voters."""
        if self.config.bootstrap_servers:
            return [(-2 - place, endpoint) for place, endpoint in enumerate(self.config.bootstrap_servers)]
        others = (voter_id for voter_id in self.static_voters.ids if voter_id != self.key.id)
        found = ((other, endpoint_of(self.static_voters.endpoints(other), self.config.listener)) for other in others)
        return [(other, endpoint) for other, endpoint in found if endpoint is not None]

    # What the state machine is told

    def set_high_watermark(self, offset: int) -> None:
        """Everything below `offset` is committed, as this role knows it."""
        self.high_watermark = offset
        self.log.commit(offset)
        if offset > self.told:
            self.told = offset
            self.emit(HighWatermark(offset))

    def load_snapshot(self, snapshot: SnapshotId) -> None:
        """The state machine starts over."""
        self.told = snapshot.end_offset
        self.emit(LoadSnapshot(snapshot))

    def tell_leader(self) -> None:
        """Tell the state machine who leads, where it does not know: at most twice an epoch, unknown and then known.

        Of its own leadership it hears when it has all that is committed, which then is the whole log; of its own
        resignation at once, so that it stops.
        """
        role = self.role
        epoch, leader_id = role.epoch, role.leader_id
        told_epoch, told_leader = self._leader_told
        if isinstance(role, Resigned):
            if self._leader_told != (epoch, leader_id):
                return
            leader_id = None
        elif epoch == told_epoch and (leader_id is None or told_leader is not None):
            return
        end_offset = -1
        if isinstance(role, Leader):
            if self.high_watermark is None or self.high_watermark < self.log.end:
                return
            end_offset = self.log.end
        self._leader_told = (epoch, leader_id)
        self.emit(LeaderChanged(epoch, leader_id, end_offset))
