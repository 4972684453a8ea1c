"""One replica of the quorum: its state, and the few methods that change it.

The rules of each message change the replica through the methods here only. So the election state is saved before any
effect that depends on it starts, and effects leave in order.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from raft.interface.config import Voter
from raft.interface.effects import (  # fmt: skip
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
)
from raft.interface.limits import NEVER
from raft.interface.voters import History, VoterSet, endpoint_of
from raft.state.log_view import LogView
from raft.state.other_addresses import OtherAddresses
from raft.state.peers import Peers
from raft.state.roles import Handover, Leader, Resigned, Role, check_change

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from raft.interface.config import Endpoint, RaftConfig, ReplicaKey, SnapshotId
    from raft.interface.recovered import Recovered


class Replica:
    """A voter or observer. key: its own, with its directory id; static_voters: of `controller.quorum.voters`; voters:
    the current voter set; is_voter: whether this replica is in it; is_only_voter: whether no other is either;
    kraft_version: the level of that feature in the log, 0 where the log has none.

    deadline_ms: when it must be stepped at the latest. high_watermark: None where unknown, as at the start of each
    leadership. notified_offset: the highest offset that the state machine was notified of, by a high watermark or a
    snapshot; -1 before that. stopped: whether the shutdown is complete.
    """

    __slots__ = (
        "_effects",
        "_held",
        "_notified_leader",
        "_saved",
        "_saved_as",
        "_saves",
        "_saving",
        "addresses",
        "clean_deadline_ms",
        "cleaning",
        "config",
        "deadline_ms",
        "freezing",
        "handover",
        "high_watermark",
        "is_only_voter",
        "is_voter",
        "key",
        "kraft_version",
        "kraft_versions",
        "log",
        "notified_offset",
        "parts",
        "peers",
        "recovered",
        "rng",
        "role",
        "shutting_down",
        "static_voters",
        "stopped",
        "voter_sets",
        "voters",
        "wall_offset_ms",
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
        self.kraft_version = self._last_kraft_version()
        self.voters = self._last_voters()
        self.is_voter = self.voters.holds(key)
        self.is_only_voter = self.is_voter and len(self.voters.ids) == 1
        self.peers = Peers(max(config.request_timeout_ms, 1), config.retry_backoff_ms, self._bootstrap())
        self.addresses = OtherAddresses(config)
        self.high_watermark: int | None = None
        self.notified_offset = -1
        self.deadline_ms = 0
        self.clean_deadline_ms = NEVER
        self.cleaning = 0
        self.freezing: tuple[int, SnapshotId] | None = None
        self.parts = 0
        self.shutting_down = False
        self.handover: Handover | None = None
        self.stopped = False
        self.wall_offset_ms = 0
        self._effects: list[Effect] = []
        self._held: deque[tuple[int, Effect]] = deque()
        self._saves = self._saved = 0
        self._saved_as: tuple[Any, ...] = ()
        self._saving: int | None = None  # where in _effects the save of this step is
        self._notified_leader: tuple[int, int | None] = (0, None)

    # Reading

    @property
    def epoch(self) -> int:
        return self.role.epoch

    @property
    def leader_id(self) -> int | None:
        return self.role.leader_id

    @property
    def may_stand(self) -> bool:
        """Whether this replica may be elected: a voter of the newest voter set of its log, or of an earlier set whose
        successor it does not know to be committed. The voters of that set may need its log to elect anyone (section
        4.2.2 of the dissertation on Raft). There may be several such sets: a new leader at another address appends one
        of its own.
        """
        if self.is_voter:
            return True
        sets = self.voter_sets.entries
        for place in range(len(sets) - 1, 0, -1):
            if sets[place][0] < self.log.committed:
                return False
            if sets[place - 1][1].holds(self.key):
                return True
        return False

    def control_state_at(self, end_offset: int) -> tuple[int, VoterSet | None]:
        """kraft.version and the voter set for the first batch of a snapshot that ends at `end_offset`.

        The voter set is None where the log has none, as with static voters.
        """
        return self.kraft_versions.at(end_offset - 1) or 0, self.voter_sets.at(end_offset - 1)

    def endpoint_of(self, voter_id: int) -> Endpoint | None:
        """Where requests to a voter go, on the listener of the quorum; None where unknown."""
        voter = self.voters.get(voter_id)
        if voter is None:
            return None
        return self.addresses.of(voter) or endpoint_of(voter.endpoints, self.config.listener)

    def own_voter(self) -> Voter:
        """The replica's own entry, as it should be in the voter set."""
        return Voter(self.key, self.config.endpoints, self.config.kraft_versions)

    def election_timeout(self) -> int:
        """A random time in [timeout, 2 * timeout), in ms, so that two voters rarely start an election together."""
        timeout = max(self.config.election_timeout_ms, 1)
        return timeout + self.rng.randrange(timeout)

    # Effects

    def emit(self, effect: Effect) -> None:
        """Order an effect. While a `SaveElection` is not yet `Saved`, this effect and all later ones wait, in order.

        So no message reports an epoch, vote or leader that is not on disk.
        """
        if self._saved < self._saves:
            self._held.append((self._saves, effect))
        else:
            self._effects.append(effect)

    def note(self, name: str, **fields: Any) -> None:
        self.emit(Noted(name, fields))

    def send(self, peer: int, endpoint: Endpoint, request: Any, now_ms: int, least_version: int = 0) -> None:
        self.emit(Send(peer, self.peers.record_sent(peer, request, now_ms), endpoint, request, least_version))

    def on_saved(self, number: int) -> None:
        """A `SaveElection` is on disk: release the effects that waited for it."""
        assert number <= self._saves, f"save {number} was not ordered yet, the last was {self._saves}"
        self._saved = max(self._saved, number)
        while self._held and self._held[0][0] <= self._saved:
            self._effects.append(self._held.popleft()[1])

    def take_effects(self) -> list[Effect]:
        """The effects of the step that ends now."""
        effects = self._effects
        self._effects = []
        self._saving = None
        return effects

    # Changing

    def become(self, role: Role, *, keep_requests: bool = False) -> None:
        """Change the role: the one way in which epoch, leader and vote change.

        keep_requests: answers to requests that were sent in the old role still count.
        """
        old = getattr(self, "role", None)
        check_change(old, role)
        assert role.epoch >= self.log.last_epoch, f"{role}, and the log has records of epoch {self.log.last_epoch}"
        self.role = role
        if isinstance(role, (Leader, Resigned)):
            self.high_watermark = None
        if not keep_requests:
            self.peers.reset()
        self._save(role)
        assert self._saved_as[:3] == (role.epoch, role.leader_id, role.voted), f"{role}, and {self._saved_as} is saved"
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
            return  # saved already, or being saved
        self._saved_as = form
        if self._saving is None:
            self._saves += 1
            self._saving = len(self._effects)
            self._effects.append(SaveElection(self._saves, *form))
        else:
            # Only the last role of a step is saved: all effects of the step wait for that save.
            self._effects[self._saving] = SaveElection(self._saves, *form)

    def append(self, base_offset: int, end_offset: int, epoch: int, data: bytes) -> None:
        """Append whole batches of one epoch."""
        assert base_offset == self.log.end, f"an append at {base_offset}, the log ends at {self.log.end}"
        number, epochs_changed = self.log.append(end_offset, epoch)
        self.emit(Append(number, base_offset, end_offset, epoch, data))
        self._save_epochs(epochs_changed)
        assert self.log.last_epoch == epoch, f"the log ends with epoch {self.log.last_epoch}, appended was {epoch}"

    def assign_epoch(self, epoch: int) -> None:
        """Start an epoch at the end of the log, before it has a record."""
        self._save_epochs(self.log.assign(epoch))

    def truncate(self, end_offset: int) -> None:
        """Truncate the log, and with it the voter sets and kraft.version that its end held."""
        number, epochs_changed = self.log.truncate(end_offset)
        self.emit(Truncate(number, end_offset))
        self._save_epochs(epochs_changed)
        self._truncate_control()
        assert self.notified_offset <= end_offset, f"truncation to {end_offset}, {self.notified_offset} was notified"

    def on_flushed(self, number: int, end_offset: int, size: int) -> None:
        """The operations of the log up to `number` are on disk, which may end before the log does."""
        end = self.log.end
        if self.log.on_flushed(number, end_offset, size):
            self._save_epochs(changed=True)
        if self.log.end < end:
            self._truncate_control()

    def reset_log(self, snapshot: SnapshotId, voters: VoterSet | None, kraft_version: int | None) -> None:
        """Empty the log; it starts at a snapshot, whose control records take effect."""
        self.emit(ResetLog(self.log.reset(snapshot), snapshot))
        self._save_epochs(changed=True)
        self.voter_sets.restart(snapshot.end_offset - 1, voters)
        self.kraft_versions.restart(snapshot.end_offset - 1, kraft_version)
        self.kraft_version = self._last_kraft_version()
        self._voters_may_differ()

    def advance_log_start(self, start_offset: int) -> int:
        """Drop the part of the log that a snapshot covers; returns the number of the operation."""
        number, epochs_changed = self.log.advance_start(start_offset)
        self.emit(AdvanceLogStart(number, start_offset))
        self._save_epochs(epochs_changed)
        return number

    def take_control(self, values: Iterable[tuple[int, VoterSet | int]]) -> None:
        """Control records were appended: they take effect at once, before they are committed (KIP-853)."""
        for offset, value in values:
            if isinstance(value, VoterSet):
                self.voter_sets.add(offset, value)
            else:
                self.kraft_versions.add(offset, value)
                self.kraft_version = value
        self._voters_may_differ()

    def _save_epochs(self, changed: bool) -> None:
        if changed:
            self.emit(SaveEpochs(tuple(self.log.epochs)))

    def _truncate_control(self) -> None:
        self.voter_sets.truncate(self.log.end)
        self.kraft_versions.truncate(self.log.end)
        self.kraft_version = self._last_kraft_version()
        self._voters_may_differ()

    def _voters_may_differ(self) -> None:
        voters = self._last_voters()
        if voters is self.voters or voters == self.voters:
            return
        self.voters = voters
        self.is_voter = voters.holds(self.key)
        self.is_only_voter = self.is_voter and len(voters.ids) == 1
        if isinstance(self.role, Leader):
            self.role.state.follow(voters)
        self.emit(VotersChanged(tuple(voters)))

    def _last_kraft_version(self) -> int:
        last = self.kraft_versions.last()
        return 0 if last is None else last[1]

    def _last_voters(self) -> VoterSet:
        last = self.voter_sets.last()
        return self.static_voters if last is None else last[1]

    def _bootstrap(self) -> list[tuple[int, Endpoint]]:
        """The nodes to ask for the leader: the bootstrap servers, as -2, -3 …, else the other static voters."""
        if self.config.bootstrap_servers:
            return [(-2 - place, endpoint) for place, endpoint in enumerate(self.config.bootstrap_servers)]
        others = (voter_id for voter_id in self.static_voters.ids if voter_id != self.key.id)
        servers = ((other, endpoint_of(self.static_voters.endpoints(other), self.config.listener)) for other in others)
        return [(other, endpoint) for other, endpoint in servers if endpoint is not None]

    # Notifying the state machine

    def set_high_watermark(self, offset: int) -> None:
        """All records below `offset` are committed."""
        self.high_watermark = offset
        self.log.commit(offset)
        if offset > self.notified_offset:
            self.notified_offset = offset
            self.emit(HighWatermark(offset))

    def load_snapshot(self, snapshot: SnapshotId) -> None:
        """Order the state machine to load a snapshot in place of its state."""
        self.notified_offset = snapshot.end_offset
        self.emit(LoadSnapshot(snapshot))

    def notify_leader(self) -> None:
        """Notify the state machine of the leader where that changed: at most twice an epoch, unknown and then known.

        This replica's own leadership is reported once the high watermark covers the whole log, so that the state
        machine has read all of it; its own resignation is reported at once.
        """
        role = self.role
        epoch, leader_id = role.epoch, role.leader_id
        known_epoch, known_leader_id = self._notified_leader
        if isinstance(role, Resigned):
            if self._notified_leader != (epoch, leader_id):
                return
            leader_id = None
        elif epoch == known_epoch and (leader_id is None or known_leader_id is not None):
            return
        end_offset = -1
        if isinstance(role, Leader):
            if self.high_watermark is None or self.high_watermark < self.log.end:
                return
            end_offset = self.log.end
        self._notified_leader = (epoch, leader_id)
        self.emit(LeaderChanged(epoch, leader_id, end_offset))
