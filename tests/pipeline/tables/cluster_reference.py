"""Broker sessions, configs and ACLs by the controller's own state, from the differences after each record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.resources import knows_config
from controller.state.state import State
from pipeline.source.secrets import is_secret
from records.hidden_text import HIDDEN
from records.metadata.configs import ClientQuotaRecord, ConfigRecord, FeatureLevelRecord
from records.metadata.topics import RemoveTopicRecord
from records.uuids import uuid_text

if TYPE_CHECKING:
    from controller.state.tables.acl import Acl

    Row = dict[str, Any]

STATES = {(True, False): "fenced", (True, True): "fenced", (False, False): "active", (False, True): "shutting_down"}
KINDS = {2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP"}


class ClusterReference:
    """Replays records that count, and compares the states before and after.

    sessions: rows of broker_sessions without cluster and process. configs: rows of config_changes as (offset, kind,
    resource, key, before, after, cause), secrets hidden. acls: (offset, action, id, resource, principal, host) of
    acl_changes.
    """

    def __init__(self) -> None:
        self.state = State(knows_config=knows_config)
        self.sessions: list[tuple[Any, ...]] = []
        self.configs: list[tuple[Any, ...]] = []
        self.acls: list[tuple[Any, ...]] = []
        self._lasting: dict[int, tuple[int, str, int, int]] = {}

    def replay(self, record: Any, offset: int, time_us: int) -> None:
        """Replay a record."""
        state = self.state
        brokers, configs, acls = dict(state.brokers), dict(state.configs), dict(state.acls)
        quotas, features = dict(state.quotas), dict(state.features)
        state.commit(offset + 1)
        state.end_offset = offset
        state.replay(record, offset)
        state.commit(offset + 1)
        if dict(state.brokers) != brokers:
            self._sessions(offset, time_us)
        self._configs(record, offset, configs)
        if isinstance(record, ClientQuotaRecord):
            entity = next((key for key in {*quotas, *state.quotas} if _same(key, record)), None)
            before, after = (held.get(entity, {}).get(record.key) for held in (quotas, state.quotas))
            self._plain(offset, "QUOTA", _words(record), record.key, before, after)
        if isinstance(record, FeatureLevelRecord):
            before, after = (held.get(record.name) for held in (features, state.features))
            if before is not None or after is not None:
                self._plain(offset, "FEATURE", "", record.name, before, after)
        for action, these, those in (("removed", acls, state.acls), ("added", state.acls, acls)):
            self.acls += [(offset, action, *_acl(id_, these[id_])) for id_ in these if id_ not in those]

    def _configs(self, record: Any, offset: int, before: dict[Any, Any]) -> None:
        after = self.state.configs
        if isinstance(record, ConfigRecord):
            place = (record.resource_type, record.resource_name)
            values = (_shown(record, value) for value in (before.get(place, {}).get(record.name), record.value))
            cause = "removed" if record.value is None else "set"
            self.configs.append((offset, KINDS[place[0]], place[1], record.name, *values, cause))
            if knows_config(record.resource_type, record.name):
                assert after.get(place, {}).get(record.name) == record.value
        elif isinstance(record, RemoveTopicRecord):
            for (kind, name), values in before.items():
                if (kind, name) not in after:
                    gone = (None, "topic_deleted")
                    self.configs += [(offset, KINDS[kind], name, *each, *gone) for each in values.items()]

    def _plain(self, offset: int, kind: str, resource: str, key: str, before: Any, after: Any) -> None:
        texts = (None if value is None else str(value) for value in (before, after))
        self.configs.append((offset, kind, resource, key, *texts, "removed" if after is None else "set"))

    def _sessions(self, offset: int, time_us: int) -> None:
        now = {
            broker_id: (broker.epoch, STATES[broker.fenced, broker.in_controlled_shutdown])
            for broker_id, broker in self.state.brokers.items()
        }
        for broker_id in {*self._lasting, *now}:
            was = self._lasting.get(broker_id)
            if was is not None and now.get(broker_id) != was[:2]:
                reason = self._reason(was, now.get(broker_id))
                self.sessions.append((broker_id, *was, offset, (time_us - was[3]) // 1000, reason))
                del self._lasting[broker_id]
            if broker_id in now and broker_id not in self._lasting:
                self._lasting[broker_id] = (*now[broker_id], offset, time_us)

    @staticmethod
    def _reason(was: tuple[int, str, int, int], now: tuple[int, str] | None) -> str:
        if now is None:
            return "unregistered"
        if now[0] != was[0]:
            return "registered"
        return {"fenced": "fenced", "active": "unfenced", "shutting_down": "shutdown"}[now[1]]

    def rows_of_sessions(self) -> list[tuple[Any, ...]]:
        """All sessions, open ones included."""
        lasting = [(broker, *was, None, None, None) for broker, was in self._lasting.items()]
        return sorted([*self.sessions, *lasting], key=lambda row: (row[0], row[3]))


def _shown(record: ConfigRecord, value: str | None) -> str | None:
    """The value as a table shows it."""
    return HIDDEN if value is not None and is_secret(record.resource_type, record.name) else value


def _same(entity: Any, record: ClientQuotaRecord) -> bool:
    return dict(entity) == {part.entity_type: part.entity_name for part in record.entity}


def _words(record: ClientQuotaRecord) -> str:
    parts = sorted((part.entity_type, part.entity_name) for part in record.entity)
    return ",".join(f"{kind}={'<default>' if name is None else name}" for kind, name in parts)


def _acl(id_: bytes, acl: Acl) -> tuple[Any, ...]:
    return (uuid_text(id_), acl.resource_name, acl.principal, acl.host)
