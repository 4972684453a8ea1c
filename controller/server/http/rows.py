"""The table of all metrics: name in Kafka's JMX, or our own name, kind, how it is read, and meaning."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from controller.node.logging.problems import DATA_LOST
from controller.rules.authorizer import StandardAuthorizer
from controller.server.http.names import COUNTER, GAUGE, SUMMARY, exported_name, feature_label
from controller.server.http.probes import check_joined, role_name
from controller.state.partitions.election_counts import ELR, UNCLEAN
from raft.autopilot.report import Health
from raft.state.roles import Candidate, Leader
from records.release import KAFKA_VERSION, VERSION
from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from controller.core.metrics import Durations
    from controller.server.http.counted import Histogram, Window
    from controller.server.http.reading import Reading

HISTOGRAM = "histogram"
# The greatest number of broker ids kept, so that brokers that are no longer registered are exported as such.
BROKERS_MAX = 10_000
# The tags of the metrics of a controller's authorizer (KIP-877).
PLUGIN = (("config", "authorizer.class.name"), ("class", "StandardAuthorizer"), ("role", "controller"))
# The tags of the metrics of the one log.
LOG = (("topic", "__cluster_metadata"), ("partition", "0"))
BUILD = (("version", VERSION), ("kafka_version", KAFKA_VERSION))
QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)


class Labelled(NamedTuple):
    """One value of several. labels: (name, value)."""

    labels: tuple[tuple[str, str], ...]
    value: float


class Text(NamedTuple):
    """A text value: for Prometheus a label of the value 1."""

    label: str
    value: str


class Row(NamedTuple):
    """One metric. jmx: its bean and name in Kafka, empty for our own metrics; own: the name of our own metrics."""

    jmx: str
    own: str
    kind: str
    read: Callable[[Reading], float | Text | list[Labelled] | Durations | Histogram]
    meaning: str

    @property
    def name(self) -> str:
        """The exported name."""
        return self.own or exported_name(self.jmx)


def _controller(name: str, kind: str, read: Callable[[Reading], float | list[Labelled]], meaning: str) -> Row:
    return Row(f"kafka.controller:type=KafkaController,name={name}", "", kind, read, meaning)


def _raft(name: str, read: Callable[[Reading], float | Text | list[Labelled]], meaning: str) -> Row:
    return Row(f"kafka.server:type=raft-metrics,attribute={name}", "", GAUGE, read, meaning)


def _channels(name: str, read: Callable[[Reading], float], meaning: str) -> Row:
    return Row(f"kafka.server:type=raft-channel-metrics,attribute={name}", "", COUNTER, read, meaning)


def _metadata_log(name: str, read: Callable[[Reading], float], meaning: str) -> Row:
    return Row(f"kafka.log:type=Log,name={name}", "", GAUGE, lambda reading: [Labelled(LOG, read(reading))], meaning)


def _authorizer(name: str, read: Callable[[Reading], float], meaning: str) -> Row:
    """A metric of StandardAuthorizer (KIP-877); without it there are no samples, as in Kafka."""

    def values(reading: Reading) -> list[Labelled]:
        access = reading.env.access
        is_standard = access is not None and isinstance(access.authorizer, StandardAuthorizer)
        return [Labelled(PLUGIN, read(reading))] if is_standard else []

    return Row(f"kafka.server:type=plugins,attribute={name}", "", GAUGE, values, meaning)


def _decisions_a_minute(*windows: Window, now_s: float) -> float:
    return 60 * sum(window.rate(now_s) for window in windows)


def _heartbeats(reading: Reading) -> list[Labelled]:
    silences = [(broker.broker_id, reading.silent_ms(broker)) for broker in reading.brokers]
    return [Labelled((("broker", str(broker_id)),), ms) for broker_id, ms in silences if ms is not None]


def _registrations(reading: Reading) -> list[Labelled]:
    states = {broker.broker_id: reading.registration_state(broker) for broker in reading.brokers}
    seen = reading.counted.brokers
    if len(seen) > BROKERS_MAX:
        seen.clear()
    seen.update(states)
    return [Labelled((("broker", str(broker_id)),), states.get(broker_id, -1)) for broker_id in sorted(seen)]


def _features(reading: Reading) -> list[Labelled]:
    levels = {**reading.state.features, "kraft.version": reading.replica.kraft_version}
    return [Labelled((("featureName", feature_label(name)),), level) for name, level in sorted(levels.items())]


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


def _unhealthy_voters(reading: Reading) -> list[Labelled]:
    report = reading.node.autopilot.report
    if report is None:
        return []
    return [Labelled((), sum(node.is_voter and node.health is not Health.HEALTHY for node in report.nodes))]


def _autopilot_steps(reading: Reading) -> list[Labelled]:
    task = reading.node.autopilot
    return [Labelled((("outcome", "done"),), task.steps), Labelled((("outcome", "failed"),), task.failed_steps)]


def _lags(reading: Reading) -> list[Labelled]:
    """The lag of each voter, on the leader; an unknown voter counts as being at the log start offset."""
    replica = reading.replica
    if not isinstance(replica.role, Leader):
        return []
    lags = []
    for voter_id, progress in sorted(replica.role.state.voters.items()):
        end = replica.log.end if voter_id == replica.key.id else max(progress.end_offset, replica.log.start)
        lags.append(Labelled((("voter", str(voter_id)),), replica.log.end - end))
    return lags


def _snapshot_age_ms(reading: Reading) -> float:
    written_ms = reading.metrics.snapshot_ms
    return reading.wall_ms if written_ms is None else reading.now_ms - written_ms


def _has_ignored_statics(reading: Reading) -> float:
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
                "Partitions whose leader is not their preferred (first) replica, including partitions without a"
                " leader."),
    _controller("MetadataErrorCount", GAUGE, lambda _: 0,
                "Always 0: a node that cannot apply metadata exits, with `node_failed` in its log."),
    _controller("LastAppliedRecordOffset", GAUGE, lambda r: r.env.next_offset - 1,
                "The last offset applied to the state; on the active controller the last written, committed or not."),
    _controller("LastCommittedRecordOffset", GAUGE, lambda r: r.state.committed_end_offset - 1,
                "The last offset that the controller knows to be committed."),
    _controller("LastAppliedRecordTimestamp", GAUGE, lambda r: r.metrics.last_applied_timestamp_ms,
                "When the last batch applied to the state was written, by the wall clock of its writer, in ms since"
                " 1970."),
    _controller("LastAppliedRecordLagMs", GAUGE, lambda r: r.wall_ms - r.metrics.last_applied_timestamp_ms,
                "The age of the last batch applied to the state, in ms, by this node's wall clock."),
    _controller("TimedOutBrokerHeartbeatCount", GAUGE, lambda r: r.metrics.timed_out_broker_heartbeats,
                "Broker heartbeats that timed out before they were processed."),
    _controller("EventQueueOperationsStartedCount", GAUGE, lambda r: r.metrics.operations_started,
                "Requests that the controller received."),
    _controller("EventQueueOperationsTimedOutCount", GAUGE, lambda r: r.metrics.operations_timed_out,
                "Requests that timed out before they were processed."),
    _controller("NewActiveControllersCount", GAUGE, lambda r: r.metrics.new_active_controllers,
                "How often a controller, this one or another, became active."),
    _controller("IgnoredStaticVoters", GAUGE, _has_ignored_statics,
                "1 if controller.quorum.voters is set and is ignored, because the log has a voter set."),
    _controller("TimeSinceLastHeartbeatReceivedMs", GAUGE, _heartbeats,
                "For each broker, on the active controller: the time since its last heartbeat, in ms."),
    _controller("BrokerRegistrationState", GAUGE, _registrations,
                "For each broker: 10 fenced, 20 in controlled shutdown, 30 active, -1 no longer registered."),
    Row("kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs", "", SUMMARY,
        lambda r: r.metrics.queue_ms, "The time from the arrival of a request to the start of its processing, in ms."),
    Row("kafka.controller:type=ControllerEventManager,name=EventQueueProcessingTimeMs", "", SUMMARY,
        lambda r: r.metrics.processing_ms,
        "The time from the arrival of a request to its response, including the wait for its commit, in ms."),
    Row("kafka.controller:type=ControllerEventManager,name=AvgIdleRatio", "", GAUGE,
        lambda r: r.watchdog.idle_ratio(), "The share of the last minute in which the node's thread was idle."),
    Row("kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec", "", COUNTER,
        lambda r: r.state.elections.get(UNCLEAN, 0),
        "Unclean leader elections: the new leader was not in the ISR and may lack records."),
    Row("kafka.controller:type=ControllerStats,name=ElectionFromEligibleLeaderReplicasPerSec", "", COUNTER,
        lambda r: r.state.elections.get(ELR, 0), "Elections of a leader from the eligible leader replicas (KIP-966)."),
    Row("kafka.server:type=MetadataLoader,name=CurrentMetadataVersion", "", GAUGE,
        lambda r: r.state.metadata_version, "The feature level of metadata.version."),
    Row("kafka.server:type=MetadataLoader,name=HandleLoadSnapshotCount", "", GAUGE,
        lambda r: r.metrics.snapshots_loaded, "Snapshots loaded since the process started."),
    Row("kafka.server:type=MetadataLoader,name=CurrentControllerId", "", GAUGE,
        lambda r: r.env.leader_id, "The id of the active controller; -1 if unknown."),
    Row("kafka.server:type=MetadataLoader,name=FinalizedLevel", "", GAUGE, _features,
        "For each feature: its finalized level."),
    Row("kafka.server:type=MetadataLoader,name=AvgIdleRatio", "", GAUGE,
        lambda r: r.watchdog.idle_ratio(), "The same value as the controller's AvgIdleRatio: both run in one thread."),
    Row("kafka.server:type=SnapshotEmitter,name=LatestSnapshotGeneratedBytes", "", GAUGE,
        lambda r: r.metrics.snapshot_bytes,
        "The size of the last snapshot that this process wrote; 0 before the first."),
    Row("kafka.server:type=SnapshotEmitter,name=LatestSnapshotGeneratedAgeMs", "", GAUGE, _snapshot_age_ms,
        "The time since this process last wrote a snapshot, in ms; before the first, the time since 1970, as in"
        " Kafka."),
    Row("kafka.server:type=ControllerServer,name=ClusterId", "", GAUGE,
        lambda r: Text("clusterid", r.env.cluster_id), "1, with the cluster id as a label."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-read-bytes", "", GAUGE,
        lambda r: r.watchdog.process_io("read_bytes"), "Bytes that this process read from disks; on Linux only."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-write-bytes", "", GAUGE,
        lambda r: r.watchdog.process_io("write_bytes"), "Bytes that this process wrote to disks; on Linux only."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-rchar", "", GAUGE,
        lambda r: r.watchdog.process_io("rchar"),
        "Bytes that this process read from files and sockets, the page cache included; on Linux only."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-wchar", "", GAUGE,
        lambda r: r.watchdog.process_io("wchar"),
        "Bytes that this process wrote to files and sockets, the page cache included; on Linux only."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-syscr", "", GAUGE,
        lambda r: r.watchdog.process_io("syscr"), "System calls that read; on Linux only."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-syscw", "", GAUGE,
        lambda r: r.watchdog.process_io("syscw"), "System calls that write; on Linux only."),
    Row("kafka.server:type=ControllerServer,name=linux-disk-cancelled-write-bytes", "", GAUGE,
        lambda r: r.watchdog.process_io("cancelled_write_bytes"),
        "Bytes that this process wrote and that never reached a disk, as the file was truncated; on Linux only."),
    _raft("current-state", lambda r: Text("current_state", role_name(r.replica)),
          "1, with the role as a label: leader, follower, observer, candidate, prospective, prospective-voted,"
          " unattached or unattached-voted; a resigned leader is unattached."),
    _raft("current-leader", lambda r: -1 if r.replica.leader_id is None else r.replica.leader_id,
          "The id of the quorum's leader; -1 if unknown."),
    _raft("current-vote", lambda r: _vote(r)[0],
          "The id of the voter that this node voted for in this epoch; -1 if none."),
    _raft("current-vote-directory-id", lambda r: Text("current_vote_directory_id", uuid_text(_vote(r)[1])),
          "1, with the directory id of the voter that this node voted for as a label."),
    _raft("current-epoch", lambda r: r.replica.epoch, "The current epoch."),
    _raft("high-watermark", lambda r: -1 if r.replica.high_watermark is None else r.replica.high_watermark,
          "The high watermark: all records below it are committed; -1 if unknown."),
    _raft("log-end-offset", lambda r: r.replica.log.end, "The log end offset of this node."),
    _raft("log-end-epoch", lambda r: r.replica.log.last_epoch, "The epoch of the last record in this node's log."),
    _raft("number-unknown-voter-connections", lambda _: 0, "Always 0, as in Kafka."),
    _raft("number-of-voters", lambda r: len(r.replica.voters), "The number of voters."),
    _raft("number-of-observers", _observers, "Observers that fetch from the leader; on the leader only."),
    _raft("uncommitted-voter-change", _voter_change,
          "1 while the last voter set of the log is not committed; on the leader only."),
    _raft("election-latency-avg", lambda r: r.counted.election_ms.mean(r.now_s),
          "The mean time from the start of an election to a known leader, in ms, over the last 30 to 60 s; NaN"
          " without an election."),
    _raft("election-latency-max", lambda r: r.counted.election_ms.highest(r.now_s),
          "The longest time from the start of an election to a known leader, in ms, over the last 30 to 60 s."),
    _raft("commit-latency-avg", lambda r: r.counted.commit_ms_per_record.mean(r.now_s),
          "On the leader: the mean time from the append of a batch to its commit, in ms, divided by the number of its"
          " records, as in Kafka."),
    _raft("commit-latency-max", lambda r: r.counted.commit_ms_per_record.highest(r.now_s),
          "On the leader: the longest time from the append of a batch to its commit, in ms, per record as in Kafka."),
    _raft("fetch-records-rate", lambda r: r.counted.fetched_rate.rate(r.now_s),
          "Records a second fetched from the leader."),
    _raft("append-records-rate", lambda r: r.counted.appended_rate.rate(r.now_s),
          "Records a second appended as the leader."),
    _raft("poll-idle-ratio-avg", lambda r: r.watchdog.idle_ratio(),
          "The same value as AvgIdleRatio: both run in one thread."),
    _channels("request-total", lambda r: r.node.channels.traffic.requests,
              "Requests of the quorum that this node sent to other voters."),
    _channels("response-total", lambda r: r.node.channels.traffic.responses, "Answers to them."),
    _channels("outgoing-byte-total", lambda r: r.node.channels.traffic.outgoing_bytes,
              "The bytes of these requests, before TLS."),
    _channels("incoming-byte-total", lambda r: r.node.channels.traffic.incoming_bytes,
              "The bytes of these answers, before TLS."),
    _metadata_log("LogStartOffset", lambda r: r.replica.log.start, "The log start offset of this node."),
    _metadata_log("LogEndOffset", lambda r: r.replica.log.end, "The log end offset of this node."),
    _metadata_log("NumLogSegments", lambda r: len(r.node.storage.log.segments), "The log segments of this node."),
    _metadata_log("Size", lambda r: r.replica.log.bytes, "The size of this node's log segments, in bytes."),
    _authorizer("acls-total-count", lambda r: len(r.state.acls), "ACLs."),
    _authorizer("authorization-request-rate-per-minute",
                lambda r: _decisions_a_minute(r.counted.allowed_rate, r.counted.denied_rate, now_s=r.now_s),
                "Decisions of StandardAuthorizer a minute, over the last 30 to 60 s."),
    _authorizer("authorization-allowed-rate-per-minute",
                lambda r: _decisions_a_minute(r.counted.allowed_rate, now_s=r.now_s),
                "Decisions of StandardAuthorizer a minute that allowed the action."),
    _authorizer("authorization-denied-rate-per-minute",
                lambda r: _decisions_a_minute(r.counted.denied_rate, now_s=r.now_s),
                "Decisions of StandardAuthorizer a minute that denied the action."),
)

OWN: tuple[Row, ...] = (
    Row("", "kraft_build_info", GAUGE, lambda _: [Labelled(BUILD, 1)],
        "Always 1; the labels have the version of kraft-quorum, and of Kafka whose protocol it equals."),
    Row("", "kraft_under_replicated_partitions", GAUGE, lambda r: len(r.under_replicated_rows),
        "Partitions with a replica that is not in the ISR. In Kafka only brokers have this metric."),
    Row("", "kraft_commit_latency_seconds", HISTOGRAM, lambda r: r.counted.commits,
        "On the leader: the time from the append of a batch to its commit."),
    Row("", "kraft_voter_lag_records", GAUGE, _lags,
        "For each voter, on the leader: the records of the leader's log that the voter lacks."),
    Row("", "kraft_behind_records", GAUGE, lambda r: r.behind(),
        "Committed records known to this node that are not applied to its state yet."),
    Row("", "kraft_appended_records_total", COUNTER, lambda r: r.counted.appended, "Records appended as the leader."),
    Row("", "kraft_fetched_records_total", COUNTER, lambda r: r.counted.fetched, "Records fetched from a leader."),
    Row("", "kraft_elections_total", COUNTER, lambda r: r.counted.elections,
        "Elections that this node started, pre-votes included."),
    Row("", "kraft_joined", GAUGE, lambda r: int(check_joined(r.node, r.now_ms).passed),
        "1 while this node leads, or follows a leader that answers; else 0: current-leader may be gone."),
    Row("", "kraft_data_lost", GAUGE, lambda r: int(r.node.log.problems.is_current(DATA_LOST)),
        "1 while a leader asks this node to drop records that are committed, which it refuses; else 0."),
    Row("", "kraft_waiting_requests", GAUGE, lambda r: len(r.controller.waiting),
        "Requests whose response waits for a commit, or for the confirmation that this node still leads."),
    Row("", "kraft_connections", GAUGE, lambda r: len(r.node.server.connections),
        "Open connections on this node's listeners."),
    Row("", "kraft_audit_lines_lost_total", COUNTER,
        lambda r: [] if (audit := r.node.admission.audit) is None else [Labelled((), audit.file.lost)],
        "Lines of the audit log that were dropped, because too many waited for its file; only with kraft.audit.log."),
    Row("", "kraft_autopilot_unhealthy_voters", GAUGE, _unhealthy_voters,
        "On the active controller, where the autopilot is enabled: the voters that lag, are silent or dead."),
    Row("", "kraft_autopilot_steps_total", COUNTER, _autopilot_steps,
        "Changes that this node's autopilot asked for, by their outcome (label `outcome`: done or failed)."),
    Row("", "kraft_log_start_offset", GAUGE, lambda r: r.replica.log.start, "The log start offset of this node."),
    Row("", "kraft_log_bytes", GAUGE, lambda r: r.replica.log.bytes,
        "The size of this node's log segments, in bytes."),
    Row("", "kraft_snapshots", GAUGE, lambda r: len(r.replica.log.snapshots), "Snapshots on this node's disk."),
    Row("", "kraft_longest_step_seconds", GAUGE, lambda r: r.node.longest_step.seconds(),
        "The longest time for which one step, or one slice of a long request, kept the event loop, in the last one to"
        " two minutes."),
    Row("", "kraft_long_requests_total", COUNTER, lambda r: r.node.long.queue.served,
        "Long requests that were begun: those of 2 KiB and more, and those that ask for 200 entries and more."),
    Row("", "kraft_long_requests_seconds_total", COUNTER, lambda r: r.node.long.queue.seconds,
        "The CPU time that long requests took, on their thread and in slices of the event loop."),
    Row("", "kraft_long_requests_overtaken_total", COUNTER, lambda r: r.node.controller.long.begun_again,
        "Long changes that were decided again, because another change met what they rest on."),
    Row("", "kraft_long_requests_waiting", GAUGE, lambda r: len(r.node.long.queue),
        "Long requests that wait for their turn."),
    Row("", "kraft_long_requests_principals", GAUGE, lambda r: r.node.long.queue.principals,
        "Principals with long requests that wait; each has a turn before any has the next."),
    Row("", "kraft_long_requests_share_max", GAUGE, lambda r: r.node.long.queue.largest_share(),
        "The share of one principal, that with most, in the time that long requests took in the last minute, 0 to 1."),
    Row("", "kraft_loop_late_seconds_max", GAUGE, lambda r: max(r.watchdog.late_s, default=math.nan),
        "The longest delay of the node's event loop in the last minute; it is measured once a second."),
)
# fmt: on


def quantiles(durations: Durations) -> Iterable[tuple[float, float]]:
    """Each of QUANTILES with its value."""
    return zip(QUANTILES, durations.quantiles(QUANTILES), strict=True)
