"""Bugs that Kafka once had in its controller, put into ours, where no other row is the same."""

from __future__ import annotations

from simulations.mutants.controllers import row
from simulations.mutants.row import Edit

MUTANTS = (
    row(
        "Q42", "an incarnation that registers again gets another epoch", "brokers", "KAFKA-16952", ("C09",),
        Edit(
            "controller.handlers.brokers", "register_broker",
            "(existing.epoch, ...)", "(env.next_offset, ...)",
            names="(env.next_offset, True, False)",
        ),
    ),
    row(
        "Q43", "new partitions have fenced brokers in sync", "isr", "KAFKA-13083", ("C06",),
        Edit(
            "controller.handlers.assignments", "new_partitions",
            "tuple(replica for replica in replicas if replica in active)", "tuple(replicas)",
        ),
    ),
    row(
        "Q44", "a new active controller has no sessions for the registered brokers", "brokers", "KAFKA-18138", ("L08",),
        Edit(
            "controller.core.active", "sessions_of",
            "if not broker.fenced:\n    sessions.record_contact(broker_id, broker.epoch, env.now_ms)", "",
        ),
    ),
    row(
        "Q45", "the last leader is elected again though it is fenced", "elections", "KAFKA-19522", ("C06",),
        Edit(
            "controller.rules.bulk_rules", "BulkRules.elect",
            "accepted & (replica == self.last_known)", "replica == self.last_known",
        ),
        Edit(
            "controller.rules.partition_change", "_Change.may_elect_last_known_leader",
            "self.rules.is_acceptable(self.partition.last_known_elr[0])", "True",
        ),
    ),
    row(
        "Q46", "after an unclean start partitions stay as they were", "brokers", "KAFKA-18106", ("C06", "C16"),
        Edit(
            "controller.handlers.brokers", "shut_down",
            "leader_and_isr_records(state, env, rows, lost_data=broker_id)", "[]",
        ),
    ),
    row(
        "Q47", "a controlled shutdown waits for an offset that advances", "brokers", "KAFKA-14292", ("L08",),
        Edit("controller.interface.sessions", "Sessions.start_shutdown", "session.shutdown_offset < 0", "True"),
    ),
    row(
        "Q48", "partitions of a topic that was removed are still there", "topics", "KAFKA-12403", ("C01", "ASSERT", "C15"),
        Edit("controller.state.partitions.topics", "Topics.remove", "self.partitions.hide(topic)", ""),
    ),
    row(
        "Q49", "a snapshot is taken within a transaction", "snapshots", "KAFKA-17713", ("S17", "ASSERT", "C01"),
        Edit(
            "controller.core.snapshot_schedule", "SnapshotSchedule._possible",
            "... or self.last.end_offset != stable_end_offset or ...", "... or ...",
        ),
        Edit(
            "controller.core.snapshot_schedule", "SnapshotSchedule._possible",
            "SnapshotId(stable_end_offset, self.last.epoch)",
            "SnapshotId(self.last.end_offset, self.last.epoch)",
        ),
    ),
    row(
        "Q50", "a new leader of a partition has the former leader's epoch", "elections", "KAFKA-15109", ("C08",),
        Edit("controller.state.partitions.partition", "apply_change", "leader_epoch = next_epoch(leader_epoch)", ""),
    ),
    row(
        "Q51", "a snapshot leaves the registrations of controllers out", "snapshots", "KAFKA-15860", ("S17", "C01"),
        Edit("controller.state.records_of", "SECTIONS", "(..., controllers, ...)", "(..., ...)"),
    ),
    row(
        "Q52", "the ELR stays when min ISR is reduced", "isr", "KAFKA-16540", ("C07", "C01"),
        Edit("controller.handlers.config_changes", "clear_elr_records", "not state.is_elr_enabled", "True"),
    ),
    row(
        "Q53", "a fenced broker gets to lead a new partition", "elections", "KAFKA-12897", ("C06", "ASSERT"),
        Edit(
            "controller.rules.placement", "Usable.__init__",
            "rack.fenced if broker.fenced else rack.unfenced", "rack.unfenced",
        ),
    ),
    row(
        "Q54", "answers are sent for committed records within an open transaction", "answers", "KAFKA-14538", ("C02", "C05"),
        Edit(
            "controller.core.active", "commit",
            "controller.waiting.on_committed(controller.state.stable_end_offset)",
            "controller.waiting.on_committed(end_offset)",
            names="controller.state.commit(end_offset)",
        ),
    ),
    row(
        "Q55", "a standby shows changes of an open transaction", "answers", "KAFKA-14538", ("C03", "C05"),
        Edit(
            "controller.core.controller", "Controller.must_park",
            "... or self.state.transaction_start >= 0 or ...", "... or ...",
        ),
    ),
    row(
        "Q56", "an aborted transaction is applied", "atomicity", "KAFKA-14538", ("C13", "C01", "ASSERT"),
        Edit(
            "controller.core.activation", "activation_records",
            "AbortTransactionRecord(reason=FAILOVER)", "EndTransactionRecord()",
        ),
    ),
    row(
        "Q110", "a transaction ends before its last batch", "atomicity", "KAFKA-14996", ("C21", "C13", "C07"),
        Edit(
            "controller.core.log_writer", "write",
            "chunks.append([Piece(end, encode_record(end, 0))])", "chunks.insert(-1, [Piece(end, encode_record(end, 0))])",
        ),
    ),
    row(
        "Q57", "the preferred leader is elected for no partition", "elections", "KAFKA-13682", ("L10",),
        Edit(
            "controller.rules.bulk_rules", "BulkRules.elect",
            "if preferred:\n    ...", "if False:\n    ...",
        ),
    ),
    row(
        "Q58", "a fenced leader remains although other replicas are in sync", "elections", "KAFKA-13173", ("C06", "C07"),
        Edit(
            "controller.rules.bulk_rules", "BulkRules.shrink",
            "for broker_id in gone:\n    ...", "for broker_id in ():\n    ...",
        ),
    ),
)  # fmt: skip
