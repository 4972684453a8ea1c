"""Observes real nodes from outside while they run: their logs and snapshots, which are checked here; and their
quorum-state and leadership, which `simulations.spec.observations` checks.

S04, S06, S11, S12, S16 by the logs, S17 by the snapshots.
"""

from __future__ import annotations

import hashlib
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from raft.storage.names import CHECKPOINT, QUORUM_STATE, snapshot_id
from raft.storage.quorum_state import parse_quorum_state
from records.batch import batches, records_of
from records.errors import ApiError
from records.wire import DecodeError
from simulations.chaos.quorum import NODES
from simulations.chaos.tail import Batch, Tail
from simulations.spec.observations import Observation
from simulations.spec.values import NOBODY

if TYPE_CHECKING:
    from pathlib import Path

    from raft.interface.recovered import Election
    from simulations.chaos.quorum import Quorum

EVERY_S = 0.2
ASK_S = 0.3
SOURCE = "what was seen from outside"
# Number of findings printed for each property; one that breaks once breaks at each look.
SHOWN_MAX = 5


class Slot(NamedTuple):
    """The place of a batch: all nodes have the same batch there."""

    base_offset: int
    epoch: int


# The snapshot 0-0, with the time at which a node was formatted (KIP-1170).
FORMATTED = f"{0:020}-"


class LogChecks:
    """Checks logs and snapshots, in the order in which they were read. wrong: the violations.

    committed: by base offset, the batches that a leader reported as committed.
    """

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.committed: dict[int, Batch] = {}
        self._batches: dict[Slot, tuple[Batch, Slot | None]] = {}
        self._snapshots: dict[str, tuple[int, str]] = {}
        self._described: dict[str, int] = {}

    def saw_log(self, node: int, gone: list[Batch], before: Batch | None, came: list[Batch]) -> None:
        """A node's log lost batches from its end, and then got some after the rest."""
        for batch in gone:
            if self.committed.get(batch.base_offset) == batch:
                self._report("S11", f"node {node} has cut {batch}, which was reported as committed")
        for batch in came:
            self._follow(node, before, batch)
            before = batch

    def on_committed(self, node: int, batches: list[Batch], below: int) -> None:
        """The batches of a leader's log that end below this offset are committed: the node said so when it led."""
        for batch in reversed(batches):
            if batch.last_offset >= below:
                continue
            known = self.committed.get(batch.base_offset)
            if known is not None:
                if known != batch:
                    self._report("S06", f"node {node} reports {batch} as committed, where {known} is committed")
                break  # all before were compared when this one was
            self.committed[batch.base_offset] = batch

    def saw_snapshot(self, node: int, name: str, digest: str) -> None:
        """A snapshot of one name has the same contents everywhere, but for the one that a formatter wrote."""
        if name.startswith(FORMATTED):
            return
        other, known = self._snapshots.setdefault(name, (node, digest))
        if known != digest:
            self._report("S17", f"nodes {other} and {node} have different contents in {name}")

    def end(self, logs: dict[int, list[Batch]]) -> None:
        """The run is over, and all logs were level: each log has all committed batches, in all of its range."""
        for node, log in logs.items():
            held = {batch.base_offset: batch for batch in log}
            first = min(held, default=0)
            last = max((batch.last_offset for batch in log), default=-1)
            for offset, batch in self.committed.items():
                if first <= offset and batch.last_offset <= last and held.get(offset) != batch:
                    self._report("S06", f"node {node} has {held.get(offset)} where {batch} is committed")

    def _follow(self, node: int, before: Batch | None, batch: Batch) -> None:
        if before is not None and batch.base_offset != before.last_offset + 1:
            self._report("S12", f"in the log of node {node} {batch} follows {before}")
        if before is not None and batch.epoch < before.epoch:
            self._report("S16", f"in the log of node {node} {batch} follows {before}")
        slot = Slot(batch.base_offset, batch.epoch)
        previous = None if before is None else Slot(before.base_offset, before.epoch)
        known, known_previous = self._batches.setdefault(slot, (batch, previous))
        if known != batch or (None not in {previous, known_previous} and previous != known_previous):
            self._report("S04", f"node {node} has {batch} behind {previous}, another {known} behind {known_previous}")

    def _report(self, property_id: str, text: str) -> None:
        self._described[property_id] = self._described.get(property_id, 0) + 1
        if self._described[property_id] <= SHOWN_MAX:
            self.wrong.append(f"{property_id}: {text}")


class Observer:
    """A thread that reads all nodes five times a second, and checks what it reads. looks: how often it did; busy_s: for
    how long batches came; observations: of changes, by node in their order.
    """

    def __init__(self, quorum: Quorum) -> None:
        self.checks = LogChecks()
        self.looks = 0
        self.busy_s = 0.0
        self.observations: list[Observation] = []
        self._last: dict[int, Observation] = {}
        self._quorum = quorum
        self._tails = {node: Tail(quorum.log_directory(node)) for node in NODES}
        self._snapshots: set[tuple[int, str]] = set()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="observer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop reading."""
        self._ending.set()
        self._thread.join()

    def verdict(self) -> list[str]:
        """The violations, after one more look; the nodes have ended."""
        self._look()
        self.checks.end({node: tail.batches for node, tail in self._tails.items()})
        return self.checks.wrong

    def _run(self) -> None:
        looked_at = time.monotonic()
        while not self._ending.wait(EVERY_S):
            known = len(self.checks.committed)
            self._ask()
            self._look()
            now = time.monotonic()
            self.busy_s += (now - looked_at) if len(self.checks.committed) > known else 0.0
            looked_at = now

    def _ask(self) -> None:
        """The high watermark of the node that says that it leads; only a leader answers, so the others cost little."""
        for node in NODES:
            if not self._quorum.runs(node):
                continue
            life = self._quorum.lives[node]
            try:
                description = self._quorum.describe(node, ASK_S)
            except (OSError, DecodeError, ApiError):
                continue
            if description.error_code == 0 and description.leader_id == node:
                watermark = None if description.high_watermark < 0 else description.high_watermark
                self._saw(
                    Observation(node, life, description.leader_epoch, leader=node, watermark=watermark, source=SOURCE)
                )
                # Said first, and then looked at: what it said to be committed was there by then.
                self._look_at_log(node)
                self.checks.on_committed(node, self._tails[node].batches, description.high_watermark)

    def _look(self) -> None:
        self.looks += 1
        for node in NODES:
            directory = self._quorum.log_directory(node)
            life = self._quorum.lives[node]
            election = _election(directory)
            if election is not None:
                voted = NOBODY if election.voted is None else election.voted.id
                leader = NOBODY if election.leader_id is None else election.leader_id
                self._saw(Observation(node, life, election.epoch, leader=leader, voted=voted, source=SOURCE))
            self._look_at_log(node)
            self._look_at_snapshots(node, directory)

    def _saw(self, seen: Observation) -> None:
        """Note the election state and role of a node, if it has changed."""
        if seen != self._last.get(seen.node):
            self.observations.append(seen)
            self._last[seen.node] = seen

    def _look_at_log(self, node: int) -> None:
        self.checks.saw_log(node, *self._tails[node].look())

    def _look_at_snapshots(self, node: int, directory: Path) -> None:
        for path in directory.glob(f"*{CHECKPOINT}"):
            if snapshot_id(path.name) is None or (node, path.name) in self._snapshots:
                continue
            try:
                digest = digest_of(path)
            except OSError:
                continue  # it was deleted meanwhile
            self._snapshots.add((node, path.name))
            self.checks.saw_snapshot(node, path.name, digest)


def digest_of(snapshot: Path) -> str:
    """A digest of the records in a snapshot, in any order: the order of table rows and the times differ by node."""
    data = snapshot.read_bytes()
    said = sorted(
        b"%d %b %b" % (batch.is_control, record.key or b"", record.value or b"")
        for batch in batches(data)
        for record in records_of(data, batch)
    )
    return hashlib.sha256(b"\n".join(said)).hexdigest()


def _election(directory: Path) -> Election | None:
    """The quorum-state file. It is replaced atomically, so it is complete at any moment."""
    try:
        return parse_quorum_state((directory / QUORUM_STATE).read_bytes())
    except OSError:
        return None
