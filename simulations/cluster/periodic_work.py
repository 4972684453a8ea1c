"""The periodic work of a controller: fencing brokers, taking snapshots, registering; and its metrics.

C23: a snapshot is taken when as many bytes were committed, or as much time has passed, as configured (KIP-630,
KIP-876), or when a node with much to replay stops, and not before; a node registers as a controller at once, and
retries after a pause (KIP-919); a broker that is silent for longer than its session timeout is fenced, and no other;
metrics equal the counts made here. As with C21, the first violation is reported at the end of the run.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from controller.interface import effects, inputs
from records.batch import batches
from records.errors import Error
from records.messages.brokers import BrokerHeartbeatRequest
from records.metadata.brokers import BrokerRegistrationChangeRecord
from simulations.cluster.metadata.image import NOBODY, records_in
from simulations.cluster.metadata.member_rules import CONTROLLERS_SINCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.state.partitions.partitions import Partitions
    from simulations.cluster.metadata.image import Image
    from simulations.cluster.metadata.log_rules import LogRules
    from simulations.nodes.driver import ControllerProcess

BYTES_MAX, INTERVAL_MS = 20 << 20, 3_600_000
# The bytes from which on a node that stops takes a snapshot.
STOP_BYTES = 1 << 20
# The tolerance for moments that are not known to the millisecond.
SLACK_MS = 5
# The number of ticks in which a controller fences all brokers of a dead cluster, one at a time.
LOOKS_MAX = 20
# The time in which it does, and of each step in which a broker leaves very many ISRs.
LATE_MS, STEP_MS = 400, 20
# The delay before a failed registration is sent again, doubled each time; and before an accepted one is.
PAUSE_MS, PAUSE_MS_MAX, PATIENCE_MS = 100, 120_000, 5_000
JITTER = 0.02


class Wrong(Exception):
    """Periodic work that was not done, or at the wrong time."""


class Snapshots:
    """What one process of a node has committed since its last snapshot."""

    def __init__(self, properties: Mapping[str, str], now_ms: int) -> None:
        self._bytes_max = int(properties.get("metadata.log.max.record.bytes.between.snapshots", BYTES_MAX))
        self._interval_ms = int(properties.get("metadata.log.max.snapshot.interval.ms", INTERVAL_MS))
        self._since_ms = now_ms
        self._bytes = self._end = 0
        # Of the active controller: end and size of each batch that is not committed.
        self._written: deque[tuple[int, int]] = deque()
        self._under_way: Any = None
        self._is_behind = True  # until its state is as new as before the start
        self._is_loading = False
        self.loaded = 0  # where the snapshot ends from which the state was loaded last

    def on_stepped(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        now_ms = process.controller.env.now_ms
        kind = type(event)
        self._take(event, now_ms)
        if not process.controller.is_active:
            self._written.clear()
        if process.controller.is_active or kind is inputs.CaughtUp:
            self._is_behind = False
        taken = [each for each in done if type(each) is effects.TakeSnapshot]
        stable_end_offset = process.controller.state.stable_end_offset
        if kind in (inputs.Committed, inputs.HighWatermark):
            self._check(stable_end_offset, now_ms, taken)
        elif kind is inputs.Stopping:
            is_settled = not self._is_behind and not self._is_loading
            can = is_settled and self._can(stable_end_offset) and self._bytes >= STOP_BYTES
            self._compare(stable_end_offset, now_ms, taken, is_due=can)
        elif taken:
            raise Wrong(f"takes a snapshot by {kind.__name__}")
        for each in taken:
            self._under_way, self._bytes, self._since_ms = each.id, 0, now_ms
        self._written.extend((each.last_offset + 1, len(each.data)) for each in done if type(each) is effects.Append)

    def _take(self, event: inputs.Input, now_ms: int) -> None:
        if isinstance(event, inputs.Committed):
            for batch in batches(event.data, check=False):
                self._has(batch.last_offset + 1, 0 if batch.is_control else batch.size)
        elif isinstance(event, (inputs.HighWatermark, inputs.LeaderChanged)):
            end = event.offset if isinstance(event, inputs.HighWatermark) else event.end_offset
            while self._written and self._written[0][0] <= end:
                self._has(*self._written.popleft())
        elif isinstance(event, inputs.SnapshotOpened):
            self.loaded, self._is_loading = event.id.end_offset, True
        elif isinstance(event, inputs.SnapshotClosed):
            self._is_loading = False
            self._bytes, self._since_ms, self._under_way, self._end = 0, now_ms, None, self.loaded
        elif isinstance(event, (inputs.SnapshotWritten, inputs.SnapshotGivenUp)) and event.id == self._under_way:
            self._under_way = None

    def _has(self, end_offset: int, size: int) -> None:
        self._bytes += size
        self._end = end_offset

    def _check(self, stable_end_offset: int, now_ms: int, taken: Sequence[Any]) -> None:
        can = self._can(stable_end_offset)
        passed_ms = now_ms - self._since_ms
        is_large = self._bytes >= self._bytes_max
        if can and not is_large and self._interval_ms and abs(passed_ms - self._interval_ms) <= SLACK_MS:
            return
        is_due = can and (is_large or 0 < self._interval_ms <= passed_ms)
        self._compare(stable_end_offset, now_ms, taken, is_due=is_due)

    def _can(self, stable_end_offset: int) -> bool:
        return self._under_way is None and self._bytes > 0 and self._end == stable_end_offset

    def _compare(self, stable_end_offset: int, now_ms: int, taken: Sequence[Any], *, is_due: bool) -> None:
        if is_due != bool(taken) or any(each.id.end_offset != stable_end_offset for each in taken):
            passed_ms = now_ms - self._since_ms
            text = f"{self._bytes} bytes and {passed_ms} ms after its last snapshot, up to {stable_end_offset}"
            raise Wrong(f"takes {[each.id for each in taken]} {text}; {self._under_way} is in progress")


class Sessions:
    """The brokers whose heartbeats one active controller has handled, and when."""

    def __init__(self, session_ms: int, now_ms: int) -> None:
        self._session_ms = session_ms
        self._since_ms = now_ms
        self._last_heartbeat_ms: dict[tuple[int, int], int] = {}
        # Of sessions that are over: how many ticks saw that, and when the first step did.
        self._overdue: dict[tuple[int, int], tuple[int, int]] = {}

    def on_stepped(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        now_ms = process.controller.env.now_ms
        if type(event) is inputs.Requested and type(event.request) is BrokerHeartbeatRequest:
            key = event.request.broker_id, event.request.broker_epoch
            self._last_heartbeat_ms[key] = max(event.context.arrived_ms, self._last_heartbeat_ms.get(key, 0))
        self._are_due(event, done, now_ms)
        state = process.controller.state
        # A broker in very many ISRs leaves them in several steps before it is fenced.
        steps = state.partitions.count // process.controller.env.partitions_at_once * len(state.brokers)
        for broker in state.brokers.values():
            key = broker.broker_id, broker.epoch
            silent_ms = now_ms - self._last_heartbeat_ms.get(key, self._since_ms)
            if broker.fenced or silent_ms <= self._session_ms:
                self._overdue.pop(key, None)
                continue
            looks, first_ms = self._overdue.get(key, (0, now_ms))
            looks += type(event) is inputs.Ticked
            self._overdue[key] = looks, first_ms
            # A process that was paused has not seen a second tick.
            is_late = looks > 1 and now_ms - first_ms > LATE_MS + STEP_MS * steps
            if looks > LOOKS_MAX + steps or is_late:
                raise Wrong(
                    f"received no heartbeat of broker {broker.broker_id} for {silent_ms} ms, and does not fence it"
                )

    def _are_due(self, event: inputs.Input, done: Sequence[Any], now_ms: int) -> None:
        """A broker is fenced when it was silent for longer than its session, or by its own heartbeat."""
        of_sender = -1
        if type(event) is inputs.Requested and type(event.request) is BrokerHeartbeatRequest:
            of_sender = event.request.broker_id
        for effect in done if type(event) in (inputs.Ticked, inputs.Requested) else ():
            for _, record in records_in(effect.data) if type(effect) is effects.Append else ():
                if type(record) is not BrokerRegistrationChangeRecord or record.fenced <= 0:
                    continue
                key = record.broker_id, record.broker_epoch
                silent_ms = now_ms - self._last_heartbeat_ms.get(key, self._since_ms)
                if record.broker_id != of_sender and silent_ms + SLACK_MS < self._session_ms:
                    raise Wrong(f"fences broker {record.broker_id} {silent_ms} ms after its last heartbeat")


class Registration:
    """The registration of one process of a node as a controller."""

    def __init__(self) -> None:
        self._leader = NOBODY
        self._number = 0  # of the request that is under way
        self._failures = 0
        self._from_ms = self._until_ms = 0  # between these the next is sent
        self._is_leaving = False

    def on_stepped(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        self._is_leaving |= type(event) is inputs.ShutDown
        if self._is_leaving:
            return
        controller = process.controller
        now_ms, node_id = controller.env.now_ms, process.node.id
        if isinstance(event, inputs.LeaderChanged):
            leader = NOBODY if event.leader_id is None else event.leader_id
            if leader not in (NOBODY, self._leader):
                self._from_ms, self._until_ms = 0, min(self._until_ms, now_ms)
            self._leader = leader
        elif isinstance(event, inputs.SendAnswered) and self._was_taken(event):
            self._number = self._failures = 0
            self._from_ms = self._until_ms = now_ms + PATIENCE_MS
        for each in done:
            if type(each) is effects.Noted and each.name == "controller_registration_failed":
                term_ms = min(PAUSE_MS * 2**self._failures, PAUSE_MS_MAX)
                self._number = 0
                self._failures += 1
                self._from_ms = now_ms + min(int(term_ms * (1 - JITTER)), PAUSE_MS_MAX)
                self._until_ms = now_ms + min(int(term_ms * (1 + JITTER)) + 1, PAUSE_MS_MAX)
            elif type(each) is effects.SendToActive:
                if self._number or now_ms < self._from_ms:
                    raise Wrong(f"registers at {now_ms} ms, but should wait until {self._from_ms} ms, or for an answer")
                self._number = each.number
        known = controller.state.controllers.get(node_id)
        own = controller.registration
        assert own is not None, "each of these registers"
        is_there = known is not None and known.incarnation_id == own.incarnation_id
        is_wanted = controller.state.metadata_version >= CONTROLLERS_SINCE and not is_there
        if is_wanted and self._leader != NOBODY and not self._number and now_ms > self._until_ms + SLACK_MS:
            raise Wrong(
                f"is not registered, and has not asked {self._leader} by {self._until_ms} ms; it is {now_ms} ms"
            )

    def _was_taken(self, event: inputs.SendAnswered) -> bool:
        is_of_now = self._number > 0 and event.number == self._number
        return is_of_now and event.response is not None and event.response.error_code == Error.NONE


class PeriodicWork:
    """refused: the first violation."""

    def __init__(self, log_rules: LogRules, properties: Mapping[str, str], session_ms: int) -> None:
        self._log_rules = log_rules
        self._properties = properties
        self._session_ms = session_ms
        self._lives: dict[int, tuple[int, Snapshots, Registration]] = {}  # by node: which of its lives it is
        self._sessions: dict[int, tuple[int, int, Sessions]] = {}  # by node: its life, and its epoch
        self.refused = ""

    def on_stepped(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        """A controller took a step."""
        if self.refused:
            return
        node_id, life = process.node.id, process.life
        now_ms = process.controller.env.now_ms
        if self._lives.get(node_id, (-1,))[0] != life:
            self._lives[node_id] = life, Snapshots(self._properties, now_ms), Registration()
        _, snapshots, registration = self._lives[node_id]
        try:
            snapshots.on_stepped(process, event, done)
            registration.on_stepped(process, event, done)
            self._look_at_sessions(process, event, done)
        except Wrong as wrong:
            self.refused = f"node {node_id} {wrong}"

    def _look_at_sessions(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        controller = process.controller
        if not controller.is_active:
            self._sessions.pop(process.node.id, None)
            return
        life, epoch = process.life, controller.env.epoch
        known = self._sessions.get(process.node.id)
        if known is None or known[:2] != (life, epoch):
            known = self._sessions[process.node.id] = life, epoch, Sessions(self._session_ms, controller.env.now_ms)
        known[2].on_stepped(process, event, done)

    def compare_metrics(self, process: ControllerProcess) -> None:
        """Compare the metrics of a node's state with the log, at a moment at which all of the state is committed."""
        image, state = self._log_rules.image, process.controller.state
        if self.refused or state.end_offset != image.end_offset or state.end_offset != state.stable_end_offset:
            return
        partitions = list(image.partitions.values())
        begin = self._lives[process.node.id][1].loaded
        waiting = process.controller.waiting
        wanted: dict[Any, int] = {
            "partitions": len(partitions),
            "without a leader": sum(each.leader == NOBODY for each in partitions),
            "not led by the first": sum(each.leader != each.replicas[0] for each in partitions),
            **{kind: sum(at >= begin for at in offsets) for kind, offsets in self._log_rules.elections.items()},
            "waiting requests": len(list(waiting)),
            "topics": len(image.topics),
        }
        sizes: dict[Any, int] = {
            **dict(zip(wanted, state.partitions.counts(), strict=False)),
            **{kind: state.elections.get(kind, 0) for kind in self._log_rules.elections},
            "waiting requests": len(waiting),
            "topics": len(state.contents()["topics"]),
        }
        sizes |= {key: len(rows) for key, rows in _node_counts(state.partitions, image).items()}
        wanted |= _image_counts(image)
        if sizes != wanted:
            wrong = {key: (value, wanted[key]) for key, value in sizes.items() if value != wanted[key]}
            self.refused = f"node {process.node.id} counts, and there is: {wrong}"


def _node_counts(partitions: Partitions, image: Image) -> dict[Any, Any]:
    """The counts that a node finds by its queries for the partitions of a broker, and for unhealthy ones."""
    counts: dict[Any, Any] = {"moving": partitions.reassigning(), "with eligible ones": partitions.with_elr()}
    for broker_id, broker in image.brokers.items():
        counts["in sync", broker_id] = partitions.in_isr(broker_id)
        counts["held", broker_id] = partitions.with_replica(broker_id)
        counts["eligible", broker_id] = partitions.in_elr(broker_id)
        counts["led", broker_id] = partitions.rows_led_by(broker_id)
        counts |= {("directory", each): partitions.in_directory(each) for each in broker.directories}
    return counts


def _image_counts(image: Image) -> dict[Any, int]:
    """The counts of `_node_counts`, from the image."""
    counts: Counter[Any] = Counter()
    for each in image.partitions.values():
        counts["moving"] += bool(each.adding or each.removing)
        counts["with eligible ones"] += bool(each.elr or each.last_known)
        counts["led", each.leader] += 1
        counts.update(("in sync", broker_id) for broker_id in each.isr)
        counts.update(("held", broker_id) for broker_id in each.replicas)
        counts.update(("eligible", broker_id) for broker_id in each.elr)
        counts.update(("directory", directory) for directory in set(each.directories))
    wanted: dict[Any, int] = {"moving": counts["moving"], "with eligible ones": counts["with eligible ones"]}
    for broker_id, broker in image.brokers.items():
        wanted |= {(kind, broker_id): counts[kind, broker_id] for kind in ("in sync", "held", "eligible", "led")}
        wanted |= {("directory", each): counts["directory", each] for each in broker.directories}
    return wanted
