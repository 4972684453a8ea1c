"""Every metric: its name in Kafka's JMX, or ours where Kafka has none, what it is, and where it is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from controller.server.http.names import exported_name
from controller.server.http.probes import role_name
from controller.state.partitions.election_counts import ELR, UNCLEAN
from raft.roles import Candidate, Leader
from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from controller.core.metrics import Durations
    from controller.server.http.counted import Histogram
    from controller.server.http.reading import Reading

GAUGE = "gauge"
COUNTER = "counter"
SUMMARY = "summary"
HISTOGRAM = "histogram"
# So many ids of brokers are remembered, so that those that are registered no more are shown as such.
BROKERS_MAX = 10_000
QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)


class Labelled(NamedTuple):
    """One value of several. labels: (name, value)."""

    labels: tuple[tuple[str, str], ...]
    value: float


class Row(NamedTuple):
    """One metric. jmx: its bean and name in Kafka; empty for one of our own, whose `own` is its name."""

    jmx: str
    own: str
    kind: str
    read: Callable[[Reading], float | list[Labelled] | Durations | Histogram]
    meaning: str

    @property
    def name(self) -> str:
        """As it is exported."""
        return self.own or exported_name(self.jmx)


def _controller(name: str, kind: str, read: Callable[[Reading], float | list[Labelled]], meaning: str) -> Row:
    return Row(f"kafka.controller:type=KafkaController,name={name}", "", kind, read, meaning)


def _raft(name: str, read: Callable[[Reading], float | list[Labelled]], meaning: str, kind: str = GAUGE) -> Row:
    return Row(f"kafka.server:type=raft-metrics,attribute={name}", "", kind, read, meaning)


def _named(label: str, value: str) -> list[Labelled]:
    """A text, which Prometheus has as the label of a 1."""
    return [Labelled(((label, value),), 1)]


def _heartbeats(reading: Reading) -> list[Labelled]:
    found = [(broker.broker_id, reading.silent_ms(broker)) for broker in reading.brokers]
    return [Labelled((("broker", str(broker_id)),), ms) for broker_id, ms in found if ms is not None]


def _registrations(reading: Reading) -> list[Labelled]:
    states = {broker.broker_id: reading.registration_state(broker) for broker in reading.brokers}
    seen = reading.counted.brokers
    if len(seen) > BROKERS_MAX:
        seen.clear()
    seen.update(states)
    return [Labelled((("broker", str(broker_id)),), states.get(broker_id, -1)) for broker_id in sorted(seen)]


def _features(reading: Reading) -> list[Labelled]:
    levels = {**reading.state.features, "kraft.version": reading.replica.kraft_version}
    return [Labelled((("featureName", name),), level) for name, level in sorted(levels.items())]


def _vote(reading: Reading) -> tuple[int, bytes]:
    role = reading.replica.role
    if isinstance(role, (Leader, Candidate)):
        return reading.replica.key
    return (-1, ZERO_UUID) if role.voted is None else role.voted


def _observers(reading: Reading) -> list[Labelled]:
    role = reading.replica.role
    return [Labelled((), len(role.state.observers))] if isinstance(role, Leader) else []


def _voter_change(reading: Reading) -> list[Labelled]:
    replica = reading.replica
    if not isinstance(replica.role, Leader):
        return []
    last = replica.voter_sets.last()
    return [Labelled((), float(last is not None and last[0] >= (replica.high_watermark or 0)))]


def _lags(reading: Reading) -> list[Labelled]:
    """Of each voter, on the leader; unknown ones as far as the log's start."""
    replica = reading.replica
    if not isinstance(replica.role, Leader):
        return []
    found = []
    for voter_id, progress in sorted(replica.role.state.voters.items()):
        end = replica.log.end if voter_id == replica.key.id else max(progress.end_offset, replica.log.start)
        found.append(Labelled((("voter", str(voter_id)),), replica.log.end - end))
    return found


def _snapshot_age_ms(reading: Reading) -> float:
    written_ms = reading.metrics.snapshot_ms
    return reading.wall_ms if written_ms is None else reading.now_ms - written_ms


def _statics_ignored(reading: Reading) -> float:
    return float(len(reading.replica.static_voters) > 0 and reading.replica.voter_sets.last() is not None)


# fmt: off
KAFKA: tuple[Row, ...] = (
    _controller("ActiveControllerCount", GAUGE, lambda r: float(r.controller.is_active),
                "1 on the active controller, 0 on others."),
    _controller("ActiveBrokerCount", GAUGE, lambda r: sum(not broker.fenced for broker in r.brokers),
                "Registered brokers that are not fenced."),
    _controller("FencedBrokerCount", GAUGE, lambda r: sum(broker.fenced for broker in r.brokers),
                "Registered brokers that are fenced."),
    _controller("ControlledShutdownBrokerCount", GAUGE,
                lambda r: sum(broker.in_controlled_shutdown for broker in r.brokers),
                "Brokers in controlled shutdown."),
    _controller("GlobalTopicCount", GAUGE, lambda r: len(r.state.topics), "Topics."),
    _controller("GlobalPartitionCount", GAUGE, lambda r: r.counts.partitions, "Partitions."),
    _controller("OfflinePartitionsCount", GAUGE, lambda r: r.counts.offline, "Partitions without a leader."),
    _controller("PreferredReplicaImbalanceCount", GAUGE, lambda r: r.counts.imbalanced,
                "Partitions not led by their first replica, those without a leader among them."),
    _controller("MetadataErrorCount", GAUGE, lambda _: 0,
                "Always 0: a node that meets metadata it cannot take ends, with `node_failed` in its log."),
    _controller("LastAppliedRecordOffset", GAUGE, lambda r: r.env.next_offset - 1,
                "The last offset in the state; on the active controller the last written, committed or not."),
    _controller("LastCommittedRecordOffset", GAUGE, lambda r: r.state.committed_end_offset - 1,
                "The last offset that the controller knows to be committed."),
    _controller("LastAppliedRecordTimestamp", GAUGE, lambda r: r.metrics.last_applied_timestamp_ms,
                "When the last batch in the state was written, by the wall clock of its writer, in ms since 1970."),
    _controller("LastAppliedRecordLagMs", GAUGE, lambda r: r.wall_ms - r.metrics.last_applied_timestamp_ms,
                "How long ago that was, by this node's wall clock."),
    _controller("TimedOutBrokerHeartbeatCount", GAUGE, lambda r: r.metrics.timed_out_broker_heartbeats,
                "Heartbeats that waited too long to be looked at."),
    _controller("EventQueueOperationsStartedCount", GAUGE, lambda r: r.metrics.operations_started,
                "Requests that came to the controller."),
    _controller("EventQueueOperationsTimedOutCount", GAUGE, lambda r: r.metrics.operations_timed_out,
                "Requests that waited too long to be begun."),
    _controller("NewActiveControllersCount", GAUGE, lambda r: r.metrics.new_active_controllers,
                "How often another controller, or this one anew, became the active one."),
    _controller("IgnoredStaticVoters", GAUGE, _statics_ignored,
                "1 where controller.quorum.voters is set and the log has a voter set of its own."),
    _controller("TimeSinceLastHeartbeatReceivedMs", GAUGE, _heartbeats,
                "For each broker, on the active controller: how long ago it was last heard of."),
    _controller("BrokerRegistrationState", GAUGE, _registrations,
                "For each broker: 10 fenced, 20 in controlled shutdown, 30 active, -1 no longer registered."),
    Row("kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs", "", SUMMARY,
        lambda r: r.metrics.queue_ms, "From a request's arrival to its turn."),
    Row("kafka.controller:type=ControllerEventManager,name=EventQueueProcessingTimeMs", "", SUMMARY,
        lambda r: r.metrics.processing_ms, "From a request's arrival to its answer, the wait for its commit included."),
    Row("kafka.controller:type=ControllerEventManager,name=AvgIdleRatio", "", GAUGE,
        lambda r: r.watchdog.idle_ratio(), "The share of the last minute in which the node's thread did not work."),
    Row("kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec", "", COUNTER,
        lambda r: r.state.elections.get(UNCLEAN, 0), "Leaders from outside the ISR, which may lack records."),
    Row("kafka.controller:type=ControllerStats,name=ElectionFromEligibleLeaderReplicasPerSec", "", COUNTER,
        lambda r: r.state.elections.get(ELR, 0), "Leaders from the eligible leader replicas (KIP-966)."),
    Row("kafka.server:type=MetadataLoader,name=CurrentMetadataVersion", "", GAUGE,
        lambda r: r.state.metadata_version, "The level of metadata.version."),
    Row("kafka.server:type=MetadataLoader,name=HandleLoadSnapshotCount", "", GAUGE,
        lambda r: r.metrics.snapshots_loaded, "Snapshots that the state was loaded from since the start."),
    Row("kafka.server:type=MetadataLoader,name=CurrentControllerId", "", GAUGE,
        lambda r: r.env.leader_id, "The active controller, -1 where unknown."),
    Row("kafka.server:type=MetadataLoader,name=FinalizedLevel", "", GAUGE, _features,
        "For each feature: its finalized level."),
    Row("kafka.server:type=MetadataLoader,name=AvgIdleRatio", "", GAUGE,
        lambda r: r.watchdog.idle_ratio(), "As that of the controller: it is the same thread."),
    Row("kafka.server:type=SnapshotEmitter,name=LatestSnapshotGeneratedBytes", "", GAUGE,
        lambda r: r.metrics.snapshot_bytes, "The size of the last snapshot that this process wrote; 0 before that."),
    Row("kafka.server:type=SnapshotEmitter,name=LatestSnapshotGeneratedAgeMs", "", GAUGE, _snapshot_age_ms,
        "How long ago that was; before the first, the time since 1970, as in Kafka."),
    Row("kafka.server:type=ControllerServer,name=ClusterId", "", GAUGE,
        lambda r: _named("clusterid", r.env.cluster_id), "1, with the cluster's id as a label."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-read-bytes", "", GAUGE,
        lambda r: r.watchdog.disk_bytes("read_bytes"), "Bytes that this process had the disk read; Linux alone."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-write-bytes", "", GAUGE,
        lambda r: r.watchdog.disk_bytes("write_bytes"), "Bytes that this process had the disk write; Linux alone."),
    _raft("current-state", lambda r: _named("current_state", role_name(r.replica)),
          "1, with the role as a label: leader, follower, observer, candidate, prospective, prospective-voted,"
          " unattached, unattached-voted; one that resigned is unattached."),
    _raft("current-leader", lambda r: -1 if r.replica.leader_id is None else r.replica.leader_id,
          "The leader of the quorum, -1 where unknown."),
    _raft("current-vote", lambda r: _vote(r)[0], "Whom this node voted for in this epoch, -1 for nobody."),
    _raft("current-vote-directory-id", lambda r: _named("current_vote_directory_id", uuid_text(_vote(r)[1])),
          "1, with the directory id of that voter as a label."),
    _raft("current-epoch", lambda r: r.replica.epoch, "The epoch."),
    _raft("high-watermark", lambda r: -1 if r.replica.high_watermark is None else r.replica.high_watermark,
          "Below it all is committed; -1 where unknown."),
    _raft("log-end-offset", lambda r: r.replica.log.end, "The end of this node's log."),
    _raft("log-end-epoch", lambda r: r.replica.log.last_epoch, "The epoch of its last record."),
    _raft("number-unknown-voter-connections", lambda _: 0, "Always 0, as in Kafka."),
    _raft("number-of-voters", lambda r: len(r.replica.voters), "Voters of the quorum."),
    _raft("number-of-observers", _observers, "Observers that fetch; on the leader alone."),
    _raft("uncommitted-voter-change", _voter_change,
          "1 while the last voter set of the log is not committed; on the leader alone."),
    _raft("election-latency-avg", lambda r: r.counted.election_ms.mean(r.now_s),
          "From standing for election to a leader, in ms, of the last half to whole minute; NaN for none."),
    _raft("election-latency-max", lambda r: r.counted.election_ms.highest(r.now_s), "The longest of these."),
    _raft("commit-latency-avg", lambda r: r.counted.commit_ms_per_record.mean(r.now_s),
          "On the leader: from the append of a batch to its commit, in ms, divided by its records as in Kafka."),
    _raft("commit-latency-max", lambda r: r.counted.commit_ms_per_record.highest(r.now_s), "The longest of these."),
    _raft("fetch-records-rate", lambda r: r.counted.fetched_rate.rate(r.now_s),
          "Records a second that were fetched from the leader."),
    _raft("append-records-rate", lambda r: r.counted.appended_rate.rate(r.now_s),
          "Records a second that were appended as the leader."),
    _raft("poll-idle-ratio-avg", lambda r: r.watchdog.idle_ratio(), "As AvgIdleRatio: it is the same thread."),
)

OWN: tuple[Row, ...] = (
    Row("", "kraft_under_replicated_partitions", GAUGE, lambda r: len(r.under_replicated),
        "Partitions whose ISR lacks a replica. Kafka counts them on brokers alone."),
    Row("", "kraft_commit_latency_seconds", HISTOGRAM, lambda r: r.counted.commits,
        "On the leader: from the append of a batch to its commit."),
    Row("", "kraft_voter_lag_records", GAUGE, _lags,
        "For each voter, on the leader: what its log lacks of the leader's."),
    Row("", "kraft_behind_records", GAUGE, lambda r: r.behind(),
        "What the state lacks of what this node knows to be committed."),
    Row("", "kraft_appended_records_total", COUNTER, lambda r: r.counted.appended, "Appended as the leader."),
    Row("", "kraft_fetched_records_total", COUNTER, lambda r: r.counted.fetched, "Fetched from a leader."),
    Row("", "kraft_elections_total", COUNTER, lambda r: r.counted.elections,
        "Elections that this node stood in, or asked for."),
    Row("", "kraft_waiting_requests", GAUGE, lambda r: len(r.controller.waiting),
        "Answers that wait for a commit, or for the proof that this node still leads."),
    Row("", "kraft_connections", GAUGE, lambda r: len(r.node.server.connections), "Open connections of its listeners."),
    Row("", "kraft_log_start_offset", GAUGE, lambda r: r.replica.log.start, "The start of this node's log."),
    Row("", "kraft_log_bytes", GAUGE, lambda r: r.replica.log.bytes, "The size of its segments."),
    Row("", "kraft_snapshots", GAUGE, lambda r: len(r.replica.log.snapshots), "Snapshots on its disk."),
    Row("", "kraft_loop_late_seconds_max", GAUGE, lambda r: max(r.watchdog.late_s, default=math.nan),
        "The longest that the node's thread was held up in the last minute, of those that a look each second met."),
)
# fmt: on


def quantiles(durations: Durations) -> Iterable[tuple[float, float]]:
    """Each of QUANTILES with its value."""
    return zip(QUANTILES, durations.quantiles(QUANTILES), strict=True)
