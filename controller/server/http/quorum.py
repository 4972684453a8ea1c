"""A node's view of the quorum and of the cluster, as plain values for JSON; also without a leader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.keys import own, server
from controller.server.http.probes import known_leader, ready, role_name
from raft.state.roles import Follower, Leader
from records.features.levels import known_metadata_version
from records.hidden_text import HIDDEN, hide_url_secrets
from records.release import KAFKA_VERSION, VERSION
from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.config.node import NodeConfig
    from controller.server.http.probes import Shown
    from controller.server.http.reading import Reading
    from controller.state.partitions.partitions import Rows
    from controller.state.tables.brokers import Broker
    from raft.interface.config import Endpoint, ReplicaKey
    from raft.state.leader_state import Progress

UNKNOWN = -1
# Long lists are truncated to this length; their full length is in another field.
SHOWN_MAX = 100
STATES = {10: "fenced", 20: "in controlled shutdown", 30: "active"}


def quorum_view(reading: Reading, problems: Sequence[Shown] = ()) -> dict[str, Any]:
    """The response of `/quorum`. Offsets are exclusive ends; times are in ms, `…_ago_ms` before now.

    problems: with peers, in words.
    """
    replica = reading.replica
    return {
        "node": _node(reading),
        "quorum": {
            "epoch": replica.epoch,
            "leader_id": known_leader(replica),
            "high_watermark": replica.high_watermark,
            "kraft_version": replica.kraft_version,
            "voted_for": None if replica.role.voted is None else replica.role.voted.id,
            "voters": _voters(reading),
            "observers": _observers(reading),
        },
        "log": {
            "start_offset": replica.log.start,
            "end_offset": replica.log.end,
            "durable_end_offset": replica.log.durable_end,
            "last_epoch": replica.log.last_epoch,
            "bytes": replica.log.bytes,
            "snapshots": [
                {"end_offset": stored.id.end_offset, "epoch": stored.id.epoch, "bytes": stored.size}
                for stored in replica.log.snapshots
            ],
        },
        "state": {
            "end_offset": reading.state.end_offset,
            "stable_end_offset": reading.state.stable_end_offset,
            "behind_records": reading.behind(),
            "metadata_version": reading.state.metadata_version,
            "metadata_version_name": _level_name(reading.state.metadata_version),
            "features": dict(sorted(reading.state.features.items())),
        },
        "checks": [
            {"check": check.name, "ok": check.passed, "reason": check.reason}
            for check in ready(reading.node, reading.now_ms, problems)
        ],
        "problems": [{"text": shown.text, "lasts_ms": shown.lasts_ms} for shown in problems],
        "counts": None if reading.is_loading else _counts(reading),
    }


def _counts(reading: Reading) -> dict[str, Any]:
    """What is wrong with brokers and partitions, as `kraftctl status` shows it. fenced_brokers: the first ids."""
    fenced = [broker.broker_id for broker in reading.brokers if broker.fenced]
    return {
        "fenced_brokers": fenced[:SHOWN_MAX],
        "fenced_brokers_in_all": len(fenced),
        "offline_partitions": len(reading.state.partitions.leaderless()),
        "under_replicated_partitions": len(reading.under_replicated_rows),
    }


def cluster_view(reading: Reading) -> dict[str, Any]:
    """The part of the page on brokers and partitions."""
    if reading.is_loading:
        return {"loading": True}
    partitions = reading.state.partitions
    led = reading.count_led()
    return {
        "loading": False,
        "topics": len(reading.state.topics),
        "partitions": reading.counts.partitions,
        "imbalanced": reading.counts.imbalanced,
        "brokers": [_broker(reading, broker, led) for broker in reading.brokers[:SHOWN_MAX]],
        "brokers_in_all": len(reading.brokers),
        "offline": _partitions(reading, partitions.leaderless()),
        "under_replicated": _partitions(reading, reading.under_replicated_rows),
    }


def config_view(config: NodeConfig) -> dict[str, str]:
    """The keys that the configuration file sets. Secret values, those from config providers, and those of unknown keys,
    which may be secret, are hidden; so are the user, password and query of a URL.
    """
    shown = {}
    for name in sorted(config.originals):
        key = server.KEYS.get(name) or own.KEYS.get(name)
        is_secret = key is None or key.sensitive or name in config.looked_up
        shown[name] = HIDDEN if is_secret else hide_url_secrets(config.originals[name])
    return shown


def _node(reading: Reading) -> dict[str, Any]:
    replica, env = reading.replica, reading.env
    return {
        "id": replica.key.id,
        "version": VERSION,
        "kafka_version": KAFKA_VERSION,
        "directory_id": uuid_text(replica.key.directory_id),
        "cluster_id": env.cluster_id,
        "role": role_name(replica),
        "is_voter": replica.is_voter,
        "is_active_controller": reading.controller.is_active,
        "time_ms": reading.wall_ms,
        "uptime_ms": reading.uptime_ms,
    }


def _voters(reading: Reading) -> list[dict[str, Any]]:
    """All voters. Only the leader knows the offsets of the others."""
    replica = reading.replica
    role = replica.role
    progress = role.state.voters if isinstance(role, Leader) else {}
    voters = []
    for voter in replica.voters:
        view = {
            **key_view(voter.key),
            "endpoints": addresses(voter.endpoints),
            "is_leader": voter.key.id == known_leader(replica),
        }
        if voter.key.id == replica.key.id:
            view |= _progress(reading, None)
        elif voter.key.id in progress:
            view |= _progress(reading, progress[voter.key.id])
        voters.append(view)
    return voters


def _observers(reading: Reading) -> list[dict[str, Any]]:
    role = reading.replica.role
    if not isinstance(role, Leader):
        return []
    observers = role.state.observers
    return [{**key_view(key), **_progress(reading, observers[key])} for key in sorted(observers)[:SHOWN_MAX]]


def _progress(reading: Reading, progress: Progress | None) -> dict[str, Any]:
    """The progress of a replica; None: this one."""
    replica = reading.replica
    leads = isinstance(replica.role, Leader)
    if progress is None:
        lacks = reading.behind() if isinstance(replica.role, Follower) else 0
        return {"end_offset": replica.log.end, "lag": lacks if not leads else 0, "fetched_ago_ms": None}
    if progress.end_offset == UNKNOWN:
        return {"end_offset": None, "lag": None, "fetched_ago_ms": None}
    return {
        "end_offset": progress.end_offset,
        "lag": max(replica.log.end - progress.end_offset, 0),
        "fetched_ago_ms": None if progress.fetched_ms == UNKNOWN else reading.now_ms - progress.fetched_ms,
    }


def _broker(reading: Reading, broker: Broker, led: dict[int, int]) -> dict[str, Any]:
    return {
        "id": broker.broker_id,
        "state": STATES[reading.registration_state(broker)],
        "rack": broker.rack,
        "endpoints": [f"{name}://{endpoint.host}:{endpoint.port}" for name, endpoint in broker.listeners.items()],
        "heard_ago_ms": reading.heard_ms(broker),
        "leads": led.get(broker.broker_id, 0),
    }


def _partitions(reading: Reading, rows: Rows) -> dict[str, Any]:
    partitions = reading.state.partitions
    shown = []
    for row in rows[:SHOWN_MAX].tolist():
        partition = partitions.get(row)
        shown.append(
            {
                "topic": partitions.topic_at(row).name,
                "partition": partitions.partition_id_at(row),
                "leader_id": partition.leader,
                "replicas": list(partition.replicas),
                "isr": list(partition.isr),
                "elr": list(partition.elr),
            }
        )
    return {"count": len(rows), "shown": shown}


def _level_name(level: int) -> str | None:
    """`4.3-IV0` for 30; None for a level that no release knows."""
    try:
        return known_metadata_version(level).name
    except ValueError:
        return None


def key_view(key: ReplicaKey) -> dict[str, Any]:
    return {"id": key.id, "directory_id": None if key.directory_id == ZERO_UUID else uuid_text(key.directory_id)}


def addresses(endpoints: tuple[Endpoint, ...]) -> list[str]:
    return [f"{end.listener}://{end.host}:{end.port}" for end in endpoints]
