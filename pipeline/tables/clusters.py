"""The tables of a cluster's other records: broker sessions, configs, ACLs, elections; and events for its partitions.

These records are few, and are replayed one by one, with the functions that the tools use (`tools.offline.image`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.source.secrets import is_secret
from pipeline.tables.history import Events, Moment
from records.control_batch import LEADER_CHANGE
from records.frame import decode_record
from records.hidden_text import HIDDEN
from records.uuids import uuid_text
from tools.offline.image import Image

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.state.tables.brokers import Broker

BEGIN, END, ABORT = 23, 24, 25
TOPIC_RECORD, REMOVE_TOPIC, CONFIG, QUOTA, FEATURE, CLEAR_ELR = 2, 9, 4, 14, 12, 28
ADD_ACL, REMOVE_ACL = 18, 19
NO_OP = 20
BROKER_TYPES = frozenset((0, 1, 7, 8, 17))
FENCES = frozenset((7, 8))
RESOURCES = {2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP"}
ACL_RESOURCES = {2: "TOPIC", 3: "GROUP", 4: "CLUSTER", 5: "TRANSACTIONAL_ID", 6: "DELEGATION_TOKEN", 7: "USER"}
PATTERNS = {1: "ANY", 2: "MATCH", 3: "LITERAL", 4: "PREFIXED"}
OPERATIONS = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
PERMISSIONS = {1: "ANY", 2: "DENY", 3: "ALLOW"}


class Row(NamedTuple):
    """A row of the table `records` that is not of a partition. time_us: in µs."""

    offset: int
    time_us: int
    epoch: int
    is_checkpoint: bool
    is_control: bool
    type: int
    json: str | None
    value: bytes | None

    @property
    def moment(self) -> Moment:
        return Moment(self.offset, self.time_us)


class Session(NamedTuple):
    """A broker in one state, since a time."""

    begin: Moment
    state: str
    broker: Broker


class Election(NamedTuple):
    """The last election: the epoch that it began, and the leader."""

    epoch: int
    leader: int


class Cluster:
    """The state of a cluster after its records, without partitions, and the table rows that the records give.

    rows: by table. sessions: by broker. problems: a line for each record that could not be replayed.
    """

    def __init__(self, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.image = Image()
        self.sessions: dict[int, Session] = {}
        self.election: Election | None = None
        self.is_begun = False
        self.rows: dict[str, list[dict[str, Any]]] = {
            "broker_sessions": [], "config_changes": [], "acl_changes": [], "elections": [],
        }  # fmt: skip
        self.events = Events()

    @property
    def problems(self) -> list[str]:
        return [f"cluster {self.cluster_id}: {problem}" for problem in self.image.problems]

    def take(self, rows: list[Row], times_before: Mapping[int, int]) -> None:
        """Replay records, in order. times_before: offset -> time in µs of the record before it, for elections.

        Records of an aborted transaction do not count; those of an open one are left for later.
        """
        self.events.aborted, self.events.end_offset = spans_of(rows)
        # A topic may get its first partition in a later run.
        self.events.names = {uuid_text(topic_id): topic.name for topic_id, topic in self.image.topics.items()}
        held: Image | None = None
        loaded = Moment(-1, 0)
        for row in rows:
            if row.offset >= self.events.end_offset:
                break
            if any(first <= row.offset <= last for first, last in self.events.aborted):
                continue
            if held is not None and not (row.is_checkpoint and row.offset == loaded.offset):
                self._end_load(held, loaded)
                held = None
            if row.is_checkpoint and not row.is_control and row.offset >= 0 and held is None:
                held, self.image, loaded = self.image, Image(), row.moment
                self.events.resets.append(loaded)
            if row.is_control:
                if row.type == LEADER_CHANGE and row.json and not row.is_checkpoint:
                    self._on_elected(row, times_before)
            elif row.value is not None and row.type not in (BEGIN, END, ABORT, NO_OP):
                self._record(row, is_quiet=held is not None)
        if held is not None:
            self._end_load(held, loaded)

    def _record(self, row: Row, *, is_quiet: bool) -> None:
        """Replay one record. is_quiet: it is of a checkpoint, so it states a value, and not that the value changed."""
        try:
            record, _ = decode_record(row.value or b"")
        except ValueError as error:
            self.image.problem(row.offset, str(error))
            return
        kind = record.__schema__.api_key
        before = None
        if not is_quiet:
            self.is_begun = True
            before = self._before(kind, record)
        if kind == TOPIC_RECORD:
            self.events.names[uuid_text(record.topic_id)] = record.name
        elif kind == REMOVE_TOPIC:
            self.events.removed[uuid_text(record.topic_id)] = row.moment
        elif kind == CLEAR_ELR:
            self._on_cleared(record.topic_name, row.moment)
        self.image.take(record, row.offset)
        if not is_quiet:
            self._on_changed(kind, record, row.moment, before)

    def _on_cleared(self, name: str, moment: Moment) -> None:
        topic_id = self.image.topic_ids.get(name)
        if not name:
            self.events.cleared.append((moment, None))
        elif topic_id is not None:
            self.events.cleared.append((moment, uuid_text(topic_id)))

    # What changed.

    def _before(self, kind: int, record: Any) -> Any:
        """The state that a record is about to change."""
        image = self.image
        if kind == CONFIG:
            return image.configs.get((record.resource_type, record.resource_name), {}).get(record.name)
        if kind == FEATURE:
            return image.features.get(record.name)
        if kind == QUOTA:
            return image.quotas.get(_entity(record), {}).get(record.key)
        if kind == REMOVE_ACL:
            return image.acls.get(record.id)
        if kind == REMOVE_TOPIC:
            topic = image.topics.get(record.topic_id)
            return None if topic is None else (topic.name, dict(image.configs.get((2, topic.name), {})))
        return None

    def _on_changed(self, kind: int, record: Any, moment: Moment, before: Any) -> None:
        if kind in BROKER_TYPES:
            # Fencing records have another field for the broker id.
            self._sessions(moment, (record.id if kind in FENCES else record.broker_id,))
        elif kind == CONFIG:
            self._config(
                moment, record.resource_type, record.resource_name, record.name, before, record.value,
                "removed" if record.value is None else "set",
            )  # fmt: skip
        elif kind == QUOTA:
            after = None if record.remove else record.value
            self._plain(moment, "QUOTA", _entity_text(_entity(record)), record.key, before, after)
        elif kind == FEATURE:
            # An image has no kraft.version: it is in control records of the quorum.
            after = self.image.features.get(record.name)
            if before is not None or after is not None:
                self._plain(moment, "FEATURE", "", record.name, before, after)
        elif kind == REMOVE_TOPIC and before is not None:
            name, values = before
            for key, value in values.items():
                self._config(moment, 2, name, key, value, None, "topic_deleted")
        elif kind == ADD_ACL:
            self._acl(moment, "added", record.id, record)
        elif kind == REMOVE_ACL and before is not None:
            self._acl(moment, "removed", record.id, before)

    def _config(
        self, moment: Moment, kind: int, resource: str, key: str, before: str | None, after: str | None, cause: str
    ) -> None:
        sensitive = is_secret(kind, key)
        hidden = [HIDDEN if sensitive and value is not None else value for value in (before, after)]
        self._add(
            "config_changes", moment, resource_type=RESOURCES.get(kind, str(kind)), resource=resource, config=key,
            value_before=hidden[0], value_after=hidden[1], sensitive=sensitive, cause=cause,
        )  # fmt: skip

    def _plain(self, moment: Moment, kind: str, resource: str, key: str, before: object, after: object) -> None:
        self._add(
            "config_changes", moment, resource_type=kind, resource=resource, config=key,
            value_before=None if before is None else str(before), value_after=None if after is None else str(after),
            sensitive=False, cause="removed" if after is None else "set",
        )  # fmt: skip

    def _acl(self, moment: Moment, action: str, id_: bytes, acl: Any) -> None:
        self._add(
            "acl_changes", moment, action=action, acl_id=uuid_text(id_),
            resource_type=ACL_RESOURCES.get(acl.resource_type, str(acl.resource_type)), resource=acl.resource_name,
            pattern_type=PATTERNS.get(acl.pattern_type, str(acl.pattern_type)), principal=acl.principal, host=acl.host,
            operation=OPERATIONS[acl.operation] if 0 <= acl.operation < len(OPERATIONS) else str(acl.operation),
            permission=PERMISSIONS.get(acl.permission_type, str(acl.permission_type)),
        )  # fmt: skip

    def _on_elected(self, row: Row, times_before: Mapping[int, int]) -> None:
        message = json.loads(row.json or "{}")
        last = self.election
        silence = None
        if last is not None and row.offset in times_before:
            silence = (row.time_us - times_before[row.offset]) // 1000
        self._add(
            "elections", row.moment, epoch=row.epoch, leader=message["leaderId"],
            voters=sorted(voter["voterId"] for voter in message["voters"]),
            granting=sorted(voter["voterId"] for voter in message["grantingVoters"]),
            previous_epoch=None if last is None else last.epoch, previous_leader=None if last is None else last.leader,
            silence_ms=silence,
        )  # fmt: skip
        self.election = Election(row.epoch, message["leaderId"])

    def _sessions(self, moment: Moment, brokers: Iterable[int]) -> None:
        """End the sessions whose state has changed, and begin the new ones."""
        for broker_id in brokers:
            broker = self.image.brokers.get(broker_id)
            session = self.sessions.get(broker_id)
            state = None if broker is None else state_of(broker)
            if session is not None:
                if broker is not None and session.broker.epoch == broker.epoch and session.state == state:
                    self.sessions[broker_id] = session._replace(broker=broker)
                    continue
                if broker is None:
                    reason = "unregistered"
                elif session.broker.epoch != broker.epoch:
                    reason = "registered"
                else:
                    reason = {"fenced": "fenced", "active": "unfenced", "shutting_down": "shutdown"}[state or ""]
                self.rows["broker_sessions"].append(session_row(self.cluster_id, session, moment, reason))
                del self.sessions[broker_id]
            if broker is not None and state is not None:
                self.sessions[broker_id] = Session(moment, state, broker)

    def _end_load(self, before: Image, moment: Moment) -> None:
        """A checkpoint was loaded: what now differs from the state before has changed at some time in between."""
        if self.is_begun:
            for kind, name in sorted({*before.configs, *self.image.configs}):
                old, new = (image.configs.get((kind, name), {}) for image in (before, self.image))
                for key in sorted({*old, *new}):
                    if old.get(key) != new.get(key):
                        cause = "removed" if key not in new else "set"
                        self._config(moment, kind, name, key, old.get(key), new.get(key), cause)
            for id_ in sorted({*before.acls} - {*self.image.acls}):
                self._acl(moment, "removed", id_, before.acls[id_])
            for id_ in sorted({*self.image.acls} - {*before.acls}):
                self._acl(moment, "added", id_, self.image.acls[id_])
        self._sessions(moment, sorted({*before.brokers, *self.image.brokers}))
        self.is_begun = True

    def _add(self, table: str, moment: Moment, **columns: Any) -> None:
        self.rows[table].append(
            {"cluster": self.cluster_id, "offset": moment.offset, "time": moment.time_us, **columns}
        )

    def open_sessions(self) -> list[dict[str, Any]]:
        """The sessions without an end, as rows."""
        return [session_row(self.cluster_id, session, None, None) for _, session in sorted(self.sessions.items())]


def spans_of(rows: list[Row]) -> tuple[list[tuple[int, int]], int]:
    """The aborted metadata transactions, as first and last offset; and the start of the open one, or a number above all
    offsets (KIP-868).
    """
    aborted = []
    begin = -1
    for row in rows:
        if row.is_control or row.is_checkpoint:
            continue
        if row.type == BEGIN:
            begin = row.offset
        elif row.type == ABORT and begin >= 0:
            aborted.append((begin, row.offset))
            begin = -1
        elif row.type == END:
            begin = -1
    return aborted, begin if begin >= 0 else Events().end_offset


def state_of(broker: Broker) -> str:
    """The state of a registered broker: fenced, shutting_down or active."""
    if broker.fenced:
        return "fenced"
    return "shutting_down" if broker.in_controlled_shutdown else "active"


def session_row(cluster_id: str, session: Session, end: Moment | None, reason: str | None) -> dict[str, Any]:
    """A row of the table of broker sessions; times in µs."""
    broker, begin = session.broker, session.begin
    return {
        "cluster": cluster_id, "broker": broker.broker_id, "broker_epoch": broker.epoch,
        "incarnation": uuid_text(broker.incarnation_id), "rack": broker.rack, "state": session.state,
        "start_offset": begin.offset, "start_time": begin.time_us, "end_offset": None if end is None else end.offset,
        "end_time": None if end is None else end.time_us,
        "duration_ms": None if end is None else (end.time_us - begin.time_us) // 1000, "end_reason": reason,
    }  # fmt: skip


def _entity(record: Any) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted(((part.entity_type, part.entity_name) for part in record.entity), key=lambda part: part[0]))


def _entity_text(entity: tuple[tuple[str, str | None], ...]) -> str:
    return ",".join(f"{kind}={'<default>' if name is None else name}" for kind, name in entity)
