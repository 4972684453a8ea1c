"""Each event that a node writes to its log: its name, logger and level, and what it means to an operator."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """name: stable from release to release. logger: whose level decides whether it is written."""

    name: str
    logger: str
    level: str
    meaning: str


# fmt: off
ROWS = (
    # The node.
    Event("configuration_warning", "node", "WARN", "A key of the configuration is unknown, or has no effect here."),
    Event("node_starting", "node", "INFO", "What is on disk was recovered; the node begins to take part."),
    Event("listening", "node", "INFO", "A listener takes connections."),
    Event("node_stopping", "node", "INFO", "A signal came: leadership is handed over, then the process ends."),
    Event("node_stopped", "node", "INFO", "The last line of a process, after `node_failed` too."),
    Event("node_failed", "node", "FATAL", "The node cannot go on, and ends with exit code 1: a disk failed, or a core"
          " met what must not be. Its log directory is as it was saved; the field `error` says what to look at."),
    Event("resigning", "node", "INFO", "The controller gives up leading, for the reason told."),
    Event("resigning_failed", "node", "ERROR", "A node that fails could not tell the others that it leads no more;"
          " they find out by time-out."),
    Event("closing_failed", "node", "ERROR", "A file could not be closed at the end; what was answered is on disk"
          " all the same."),
    Event("append_refused", "node", "WARN", "The quorum has another leader, or none: what the controller wanted to"
          " write is undone, and who waits is told."),
    Event("log_level_changed", "node", "INFO", "A logger was given a level at run time; level null: that of its"
          " parent."),
    # Roles and elections.
    Event("role_changed", "raft", "INFO", "The replica's role in the quorum, with epoch and leader."),
    Event("vote_answered", "raft", "INFO", "Another voter asked for a vote or pre-vote, and whether it got it."),
    Event("leader_gone", "raft", "INFO", "The leader's process is gone, or leads no more: an election begins at once."),
    Event("leader_silent", "raft", "WARN", "The leader has not answered within controller.quorum.fetch.timeout.ms:"
          " an election begins."),
    Event("quorum_lost", "raft", "WARN", "This leader has not heard from a majority in time, and resigns: look at the"
          " network between the voters."),
    Event("epochs_exhausted", "raft", "ERROR", "The last possible epoch is reached: no election can be held any more."),
    Event("pre_vote_unsupported", "raft", "INFO", "A voter is too old for pre-votes; it is asked for its vote at"
          " once."),
    # Peers.
    Event("peer_inconsistent", "raft", "WARN", "A peer names another leader for an epoch than the one known: two"
          " quorums are mixed, or a directory was put back from a copy."),
    Event("peer_has_other_key", "raft", "WARN", "A voter's directory id is not the one asked for: its disk was"
          " replaced, or its address leads to another node."),
    Event("peer_answered_error", "raft", "WARN", "A peer refused a request of the quorum with an error that does not"
          " go by itself, such as another cluster id."),
    Event("peer_answered_other", "raft", "WARN", "A peer gave an answer to something that was not asked."),
    Event("vote_for_other_key", "raft", "WARN", "A vote was asked of this node under another id or directory id."),
    Event("begin_for_other_key", "raft", "WARN", "A leader announced itself to this node under another id or directory"
          " id."),
    Event("fetch_from_own_id", "raft", "WARN", "Another process fetches with this node's id: two nodes have the same"
          " node.id."),
    Event("fetch_answered_without_leader", "raft", "WARN", "A peer answered a Fetch as a leader that it says it is"
          " not."),
    Event("fetched_records_refused", "raft", "WARN", "What a leader sent are no whole batches that follow this log; it"
          " is asked again."),
    # The log.
    Event("truncated", "raft", "WARN", "The end of the log, never committed, went another way than the leader's, and"
          " was cut off."),
    Event("truncation_refused", "raft", "ERROR", "A leader asks for what is committed to be cut off; this is not done:"
          " the quorum has lost data, or two quorums are mixed."),
    Event("log_cleaned", "raft", "INFO", "Segments that a snapshot covers were let go."),
    Event("log_tail_cut", "raft.storage", "WARN", "The last write before a crash is torn, and was cut off; nothing"
          " that was answered is in it."),
    Event("log_segments_dropped", "raft.storage", "WARN", "Segments below the newest snapshot were left over from a"
          " crash, and removed."),
    Event("log_reset_to_snapshot", "raft.storage", "WARN", "The log ends before the newest snapshot begins, and starts"
          " anew there."),
    Event("committed_prefix_ignored", "raft.storage", "WARN", "The file that tells how much of the log is checked"
          " cannot be used; the log is checked whole."),
    Event("epoch_checkpoint_healed", "raft.storage", "WARN", "The file of epochs did not go with the log, and was"
          " written anew from it."),
    # Snapshots.
    Event("snapshot_taken", "raft", "DEBUG", "A snapshot of this node's own is on disk, and known to the replica."),
    Event("snapshot_written", "controller", "INFO", "The controller's state was written to a snapshot."),
    Event("snapshot_given_up", "controller", "WARN", "A snapshot that was due is not written; the reason says why."),
    Event("snapshot_loaded", "controller", "INFO", "The controller's state was read from a snapshot."),
    Event("snapshot_fetching", "raft", "INFO", "This node is far behind, and fetches a snapshot from the leader."),
    Event("snapshot_stored", "raft", "INFO", "A fetched snapshot is whole, checked and on disk."),
    Event("snapshot_not_needed", "raft", "INFO", "A fetched snapshot is older than what is here by now."),
    Event("snapshot_corrupt", "raft", "WARN", "A fetched snapshot is not whole; it is fetched again."),
    Event("snapshot_refused", "raft.storage", "WARN", "What is wrong with a fetched snapshot, which was removed."),
    Event("snapshot_offer_refused", "raft", "WARN", "A leader offers a snapshot that is older than this log."),
    Event("snapshot_part_refused", "raft", "WARN", "A part of a snapshot is not the part that was asked for."),
    Event("snapshot_part_unasked", "raft", "WARN", "A part of a snapshot came that nobody asked for."),
    # Connections.
    Event("connect_failed", "raft.network", "WARN", "A peer cannot be reached; told once for each reason, not for each"
          " attempt."),
    Event("peer_misbehaved", "raft.network", "WARN", "A peer's answer cannot be read; the connection is closed."),
    Event("peer_too_old", "raft.network", "WARN", "A peer does not speak a version of an API that is needed."),
    Event("connection_refused", "raft.network", "WARN", "What came on a connection is no request, too large or too"
          " much; the connection was closed."),
    Event("request_received", "controller.requests", "DEBUG", "A request came in: which API, which version, from whom."
          " What is in it is never told."),
    # The watch service.
    Event("watch_refused", "grpc", "WARN", "A client wants to watch whom kraft.grpc.allow does not name."),
    Event("watcher_cut_off", "grpc", "WARN", "A client did not read what it was sent, for kraft.grpc.write.timeout.ms;"
          " it goes on from the offset told."),
    Event("watch_failed", "grpc", "ERROR", "A call came to nothing for a reason that is ours or the disk's; the quorum"
          " is not touched by it."),
    Event("certificate_renewed", "grpc", "INFO", "The files of the watch service's certificate have changed; who"
          " connects from now on gets the new one."),
    Event("certificate_refused", "grpc", "ERROR", "The files of the watch service's certificate have changed, and"
          " cannot be used: the one before stays in use, until it expires."),
    # The controller.
    Event("controller_active", "controller", "INFO", "This node is the active controller from here on."),
    Event("controller_renounced", "controller", "INFO", "This node is the active controller no more; changes not yet"
          " committed are undone."),
    Event("broker_state_changed", "controller", "INFO", "A broker was fenced or unfenced, or shuts down."),
    Event("broker_session_expired", "controller", "WARN", "A broker was silent for broker.session.timeout.ms, and is"
          " fenced."),
    Event("alter_partition_refused", "controller", "INFO", "A partition leader asked for an ISR that is not to be; it"
          " asks again with what is so."),
    Event("controller_registration_failed", "controller", "WARN", "The active controller did not take this node's"
          " registration; it is tried again."),
)
# fmt: on

EVENTS = {row.name: row for row in ROWS}
LOGGERS = tuple(sorted({row.logger for row in ROWS}))
