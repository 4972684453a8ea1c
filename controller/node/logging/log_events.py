"""The events that a node writes to its log: name, logger and level of each, and its meaning for an operator."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """name: stable across releases. logger: the one whose level decides whether the event is written."""

    name: str
    logger: str
    level: str
    meaning: str


# fmt: off
ROWS = (
    # The node.
    Event("configuration_warning", "node", "WARN", "A configuration key is unknown, or has no effect on this node."),
    Event("start_refused", "node", "FATAL", "The node does not start and exits with code 1; `reason` says why. With"
          " `kraft.log.format=json` alone: else the reason is one line of text."),
    Event("node_starting", "node", "INFO", "The node has recovered its log directory and starts to take part in the"
          " quorum."),
    Event("listening", "node", "INFO", "A listener accepts connections."),
    Event("node_stopping", "node", "INFO", "The node received a signal: it writes a snapshot if a restart would have"
          " much to replay, hands its leadership over, then the process exits."),
    Event("node_stopped", "node", "INFO", "The last event of a process, also after `node_failed`."),
    Event("node_failed", "node", "FATAL", "The node cannot continue and exits with code 1: a disk failed, or an"
          " internal check did. The log directory stays as it was last saved; the field `error` has the cause."),
    Event("clock_jumped", "node", "WARN", "The wall clock of this host was set: it moved by more than 1 s against the"
          " monotonic clock, which the quorum uses."),
    Event("disk_slow", "node", "WARN", "A write to the disk has been pending for 2 s, and nothing was completed"
          " meanwhile."),
    Event("disk_nearly_full", "node", "WARN", "The file system of the metadata log has less than 256 MiB left, or less"
          " than a tenth of a smaller one."),
    Event("certificate_expires", "node", "WARN", "A certificate of this node expires within 14 days; `until` says"
          " when. Logged once a day."),
    Event("certificate_expired", "node", "ERROR", "A certificate of this node has expired. Logged once an hour."),
    Event("majority_missing", "node", "WARN", "No leader was known for 3 s, and this node reaches fewer voters than a"
          " majority; `lost` names the others."),
    Event("audit_log_failed", "node", "WARN", "The audit log cannot be written. Its lines wait in memory, at most"
          " 4 MiB, and the node goes on."),
    Event("audit_lines_lost", "node", "WARN", "Lines of the audit log are dropped, because too many wait for its"
          " file."),
    Event("audit_log_resumed", "node", "INFO", "The audit log is written again; `lost` is the number of lines that were"
          " dropped since the start of the node."),
    Event("audit_line_failed", "node", "ERROR", "A line of the audit log could not be made, which is a bug; its request"
          " was served."),
    Event("resigning", "node", "INFO", "The active controller resigns; the field `reason` says why."),
    Event("resigning_failed", "node", "ERROR", "A failing node could not notify the other voters that it resigns; they"
          " detect it by the fetch timeout."),
    Event("closing_failed", "node", "ERROR", "A file could not be closed during shutdown. No acknowledged record is"
          " lost: it was flushed before."),
    Event("append_refused", "node", "WARN", "The controller's records were not appended, because this node is no longer"
          " the leader. The changes are undone, and their requests fail with NOT_CONTROLLER."),
    Event("autopilot_step", "node", "INFO", "The autopilot of this active controller asks for a change: `step` is add"
          " or remove for a voter, unregister for the registration of a controller; `reason` says why."),
    Event("autopilot_step_done", "node", "INFO", "The change that the autopilot asked for is committed."),
    Event("autopilot_step_failed", "node", "WARN", "The change that the autopilot asked for was refused or not"
          " completed; `error` and `text` say why. It tries the same change again after 10 s at the earliest."),
    Event("voter_left", "node", "INFO", "This node, which stops, was removed as a voter first"
          " (kraft.autopilot.leave.on.stop). When it starts again, it is an observer, and the autopilot adds it."),
    Event("voter_stays", "node", "INFO", "This node stops and stays a voter, though kraft.autopilot.leave.on.stop is"
          " set; `reason` says why the others cannot spare it, or what did not answer."),
    Event("log_level_changed", "node", "INFO", "The level of a logger was changed at run time; level null: the logger"
          " has its parent's level."),
    # Roles and elections.
    Event("role_changed", "raft", "INFO", "The replica has a new role in the quorum, or a new epoch or leader."),
    Event("vote_answered", "raft", "INFO", "Another voter requested a vote or pre-vote; the event says whether it was"
          " granted."),
    Event("leader_gone", "raft", "INFO", "The leader's process ended, or the leader resigned: an election starts at"
          " once."),
    Event("leader_silent", "raft", "WARN", "The leader has not answered within controller.quorum.fetch.timeout.ms: an"
          " election starts."),
    Event("quorum_lost", "raft", "WARN", "This leader resigns: it has not received fetches from a majority in time."
          " Check the network between the voters."),
    Event("voters_appended", "raft", "INFO", "The leader has written a new voter set to the log; it counts at once, and"
          " is final when it is committed."),
    Event("voter_not_updated", "raft", "WARN", "The leader did not take a voter's new address. With REQUEST_TIMED_OUT"
          " the voter does not answer there: check its advertised.listeners, and the network."),
    Event("removed_from_voters", "raft", "INFO", "This leader was removed from the voters, and the removal is"
          " committed: it hands leadership over."),
    Event("kraft_version_upgraded", "raft", "INFO", "The leader has written kraft.version and the voters to the log:"
          " the voters can be changed from now on."),
    Event("epochs_exhausted", "raft", "ERROR", "The epoch has reached its greatest value (2147483647): no further"
          " election is possible."),
    Event("quorum_formation_begins", "node", "INFO", "A controller with an empty disk asks the bootstrap servers for"
          " the others that are to form a quorum (kraft.quorum.bootstrap.expect)."),
    Event("quorum_not_formed", "node", "INFO", "Why the quorum is not formed yet: at each change of the reason, and"
          " once a minute."),
    Event("initial_controllers_saved", "node", "INFO", "All expected controllers are there; this one has saved who they"
          " are."),
    Event("quorum_formed", "node", "INFO", "All have saved the same initial controllers: the directory is formatted,"
          " and the node starts as a voter."),
    Event("quorum_joined", "node", "INFO", "A bootstrap server belongs to a quorum: the directory is formatted, and the"
          " node starts as an observer of it."),
    Event("pre_vote_unsupported", "raft", "INFO", "A voter does not support pre-votes; this node starts a standard"
          " election at once."),
    Event("voter_moved", "raft", "INFO", "A voter that did not answer at its address in the voter set answered at"
          " another one, by its directory id: requests go there until its entry in the voter set changes."),
    # Peers.
    Event("peer_inconsistent", "raft", "WARN", "A peer names another leader for the same epoch than the one known: two"
          " quorums are mixed, or a log directory was restored from a copy."),
    Event("peer_has_other_key", "raft", "WARN", "A voter has another directory id than expected: its disk was replaced,"
          " or its address leads to another node."),
    Event("peer_answered_error", "raft", "WARN", "A peer refused a request of the quorum with an error that a retry"
          " does not remove, such as INCONSISTENT_CLUSTER_ID."),
    Event("peer_in_other_cluster", "raft", "WARN", "A request of the quorum has another cluster id than this node's;"
          " `sender` and `address` say from where."),
    Event("peer_answered_other", "raft", "WARN", "A peer's response does not belong to the request that it was sent."),
    Event("vote_for_other_key", "raft", "WARN", "A Vote request to this node names another voter id or directory id"
          " than this node's."),
    Event("begin_for_other_key", "raft", "WARN", "A leader's BeginQuorumEpoch request to this node names another voter"
          " id or directory id than this node's."),
    Event("fetch_from_own_id", "raft", "WARN", "Another process fetches with this node's id: two nodes have the same"
          " node.id."),
    Event("node_id_shared", "raft", "WARN", "Two processes fetch with one node id; `first` and `second` say from where,"
          " and with which directory ids."),
    Event("fetch_answered_without_leader", "raft", "WARN", "A peer answered a Fetch without an error, but its response"
          " names no leader."),
    Event("fetched_records_refused", "raft", "WARN", "A leader sent records that are not whole batches following this"
          " log; the replica fetches again."),
    # The log.
    Event("truncated", "raft", "WARN", "The uncommitted end of the log differed from the leader's log and was"
          " truncated."),
    Event("truncation_refused", "raft", "ERROR", "A leader asked this replica to drop committed records, which it"
          " refuses: the quorum has lost data, or two quorums are mixed."),
    Event("log_cleaned", "raft", "INFO", "Log segments that a snapshot covers were deleted."),
    Event("log_tail_cut", "raft.storage", "WARN", "The last write before a crash was incomplete and was truncated; it"
          " contained no acknowledged record."),
    Event("log_segments_dropped", "raft.storage", "WARN", "A crash had left log segments below the newest snapshot;"
          " they were deleted."),
    Event("log_reset_to_snapshot", "raft.storage", "WARN", "The log ended before the newest snapshot, and now starts at"
          " the snapshot's end."),
    Event("committed_prefix_ignored", "raft.storage", "WARN", "The file that records how much of the log is already"
          " checked is not usable; the whole log is checked."),
    Event("quorum_state_restored", "raft.storage", "WARN", "quorum-state was missing, or older than the copy that this"
          " node keeps, and was restored from it: `epoch`, `leader_id` and `voted` say what it holds. Strimzi's images"
          " remove the file at each start."),
    Event("epoch_checkpoint_healed", "raft.storage", "WARN", "The leader epoch checkpoint did not match the log and was"
          " rewritten from it."),
    # Snapshots.
    Event("snapshot_taken", "raft", "DEBUG", "The replica has taken over a snapshot that its controller wrote."),
    Event("snapshot_written", "controller", "INFO", "The controller's state was written to a snapshot."),
    Event("snapshot_given_up", "controller", "WARN", "A snapshot was due and is not written; the field `reason` says"
          " why."),
    Event("snapshot_loaded", "controller", "INFO", "The controller's state was loaded from a snapshot."),
    Event("snapshot_fetching", "raft", "INFO", "This replica is so far behind that it fetches a snapshot from the"
          " leader."),
    Event("snapshot_stored", "raft", "INFO", "A fetched snapshot is complete, checked and on disk."),
    Event("snapshot_not_needed", "raft", "INFO", "A fetched snapshot is older than this replica's log or newest"
          " snapshot."),
    Event("snapshot_corrupt", "raft", "WARN", "A fetched snapshot is damaged or incomplete; it is fetched again."),
    Event("snapshot_refused", "raft.storage", "WARN", "A fetched snapshot failed its check and was deleted; the fields"
          " say why."),
    Event("snapshot_offer_refused", "raft", "WARN", "A leader offered a snapshot that is older than this log."),
    Event("snapshot_part_refused", "raft", "WARN", "A response to FetchSnapshot has another position or size than was"
          " requested."),
    Event("snapshot_part_unasked", "raft", "WARN", "A response to FetchSnapshot came while no snapshot was being"
          " fetched."),
    # Connections.
    Event("connect_failed", "raft.network", "WARN", "A peer cannot be reached; logged once for each reason, not for"
          " each attempt."),
    Event("peer_misbehaved", "raft.network", "WARN", "A peer's response cannot be decoded; the connection is closed."),
    Event("peer_too_old", "raft.network", "WARN", "A peer does not support a required version of an API."),
    Event("connection_refused", "raft.network", "WARN", "A connection was closed: it sent something that is no request,"
          " or is too large, or there are too many connections."),
    Event("handshake_failed", "raft.network", "WARN", "A client's TLS handshake failed; the field `reason` says why and"
          " what to do. Logged once a minute for each host and reason; `omitted` counts the others."),
    Event("authentication_failed", "raft.network", "WARN", "A client could not be authenticated by SASL, or this node"
          " by a peer; the field `reason` says why. Of clients, logged once a minute for each host and reason."),
    Event("keystore_renewed", "raft.network", "INFO", "The keystore or truststore of a listener has changed; new"
          " connections use the new one."),
    Event("keystore_refused", "raft.network", "ERROR", "The keystore or truststore of a listener has changed and is not"
          " usable; the previous one stays in use."),
    Event("security_file_renewed", "raft.network", "INFO", "A file of credentials, keys or a token has changed, and the"
          " new one is in use."),
    Event("security_file_refused", "raft.network", "ERROR", "A file of credentials, keys or a token has changed and is"
          " not usable; the previous one stays in use."),
    Event("security_fetch_failed", "raft.network", "WARN", "The keys that sign bearer tokens, or this node's own token,"
          " could not be fetched again; the present ones stay in use, and the attempt is repeated."),
    Event("security_fetch_resumed", "raft.network", "INFO", "The keys or the token were fetched after attempts that"
          " failed."),
    Event("request_received", "controller.requests", "DEBUG", "A request arrived: its API, version and client. Its"
          " content is never logged."),
    # The watch service.
    Event("watch_refused", "grpc", "WARN", "A client tried to watch that kraft.grpc.allow does not list, or without a"
          " token of kraft.grpc.token.path. Logged once a minute for each host and reason."),
    Event("watcher_cut_off", "grpc", "WARN", "A client did not read for kraft.grpc.write.timeout.ms and its stream was"
          " ended; it can resume from the offset in the event."),
    Event("watch_failed", "grpc", "ERROR", "A call of the watch service failed because of a bug or a disk error; the"
          " quorum is not affected."),
    # The HTTP port and the watch service.
    Event("http_refused", "http", "WARN", "A client of the HTTP port that kraft.http.allow does not list, or that sent"
          " no token of kraft.http.token.path. Logged once a minute for each host and reason."),
    Event("edge_open", "node", "WARN", "The controller's listeners are secured, but the HTTP port or the watch service"
          " is not, and can be reached from other machines; the field `reason` says what to do."),
    Event("certificate_renewed", "node", "INFO", "The files of the certificates or tokens of the HTTP port or the watch"
          " service have changed; new connections and calls use them."),
    Event("certificate_refused", "node", "ERROR", "The files of the certificates or tokens of the HTTP port or the"
          " watch service have changed and are not usable; the previous ones stay in use."),
    # The controller.
    Event("controller_active", "controller", "INFO", "This node became the active controller."),
    Event("controller_renounced", "controller", "INFO", "This node is no longer the active controller; its uncommitted"
          " changes are undone."),
    Event("broker_state_changed", "controller", "INFO", "A broker was fenced or unfenced, or entered controlled"
          " shutdown."),
    Event("broker_session_expired", "controller", "WARN", "A broker sent no heartbeat for broker.session.timeout.ms and"
          " is fenced."),
    Event("alter_partition_refused", "controller", "INFO", "A partition leader requested an ISR that is not allowed; it"
          " retries with the current state of the partition."),
    Event("policy_failed", "node", "ERROR", "A create topic policy or alter config policy of your own raised an error"
          " other than PolicyViolation: what it was asked for was refused with UNKNOWN_SERVER_ERROR. The same error is"
          " logged again after another one."),
    Event("authorizer_failed", "node", "ERROR", "An authorizer of your own raised an error: the request was refused"
          " with UNKNOWN_SERVER_ERROR. The same error is logged again after another one."),
    # Decisions of the authorizer, as stock's audit log has them.
    Event("authorization_denied", "kafka.authorizer.logger", "INFO", "The authorizer denied an operation; the field"
          " `rule` names the ACL, or the default, that decided."),
    Event("authorization_allowed", "kafka.authorizer.logger", "DEBUG", "The authorizer allowed an operation."),
    Event("controller_registration_failed", "controller", "WARN", "The active controller did not accept this node's"
          " registration; the node retries."),
)
# fmt: on

EVENTS = {row.name: row for row in ROWS}
LOGGERS = tuple(sorted({row.logger for row in ROWS}))
