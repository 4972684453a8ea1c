"""Mutants of the controller's rules of partitions: elections, moves, directories, and what an answer about them rests on."""

from __future__ import annotations

from simulations.mutants.controllers import row
from simulations.mutants.row import Edit

BULK, BEATS = "controller.rules.bulk_elections", "controller.handlers.heartbeats"

MUTANTS = (
    row(
        "Q151", "the last known leader returns although there are eligible replicas", "elections", "KIP-966", ("C21", "C14"),
        Edit(
            "controller.rules.bulk_rules", "BulkRules.elect",
            "is_open & is_empty & (_sizes(self.target_elr, len(is_open)) == 0) & (self.last_known_count == 1)",
            "is_open & is_empty & (self.last_known_count == 1)",
        ),
    ),
    row(
        "Q152", "a directory is online if any broker has it", "directories", "KIP-858", ("C20", "C21"),
        Edit(BULK, "_acceptable", "(owner[number] == replica) | has_none(replica)", "(owner[number] != NOBODY) | has_none(replica)"),
    ),
    row(
        "Q153", "a cancelled move never elects uncleanly", "reassignments", "KIP-455", ("C21",),
        Edit(
            "controller.handlers.reassignments", "cancel",
            "PartitionTarget(election=elections.election(topic), isr=before.isr, replicas=before.replicas, removing=(), adding=())",
            "PartitionTarget(isr=before.isr, replicas=before.replicas, removing=(), adding=())",
        ),
    ),
    row(
        "Q154", "a heartbeat that starts a shutdown and reports a failed directory changes partitions twice", "directories", "own", ("C21",),
        Edit(BEATS, "heartbeat", "0 if after in (before, UNFENCED) else next_row", "0"),
    ),
    row(
        "Q155", "a heartbeat is answered by a registration that is not committed", "answers", "own", ("C03",),
        Edit(
            BEATS, "rests_on",
            "max(state.brokers.change_offset(broker_id), state.registration_offsets.change_offset(broker_id), NOTHING_PENDING)",
            "max(state.registration_offsets.change_offset(broker_id), NOTHING_PENDING)",
        ),
    ),
    row(
        "Q156", "a member of an ISR may have a broker epoch above the registered one", "isr", "KIP-903", ("C21",),
        Edit(
            "controller.handlers.isr", "_Alteration.check_members", "epoch not in (ANY_EPOCH, broker.epoch)",
            "ANY_EPOCH < epoch < broker.epoch",
        ),
    ),
    row(
        "Q157", "topics that set unclean.leader.election.enable alone are overlooked", "elections", "own", ("C21", "C14"),
        Edit(
            "controller.rules.topic_rules", "_configured_topics", "MIN_ISR in values or UNCLEAN_ELECTION in values",
            "MIN_ISR in values",
        ),
    ),
    row(
        "Q158", "partitions that move share an election with those of topics that allow another kind", "elections", "own", ("C21", "C14"),
        Edit(BULK, "_one_by_one", "(partition[:3], partition[5:], minimum, sought)", "(partition[:3], partition[5:], minimum)"),
    ),
    row(
        "Q159", "a broker that is unfenced does not lead partitions that move", "elections", "own", ("C21", "L10"),
        Edit(
            BULK, "leader_and_isr_changes", "PartitionElections(state, env, also=added, without=gone)",
            "PartitionElections(state, env, without=gone)",
        ),
    ),
    row(
        "Q160", "a new active controller gives fenced brokers a session", "brokers", "own", ("C21", "C23"),
        Edit("controller.core.active", "sessions_of", "if not broker.fenced: ...", "if True: ..."),
    ),
    row(
        "Q161", "a broker that was unregistered is taken for one that stopped cleanly", "elections", "KIP-966", ("C16", "C21"),
        Edit("controller.handlers.brokers", "NO_FORMER_EPOCH", "-2", "-1"),
    ),
    row(
        "Q162", "of two directories that fail at once only one loses its partitions", "directories", "KIP-858", ("C20", "C21"),
        Edit(
            BEATS, "directories_offline", "records += leader_and_isr_records(state, env, rows, removed=broker.broker_id)",
            "records = leader_and_isr_records(state, env, rows, removed=broker.broker_id)",
        ),
    ),
    row(
        "Q163", "a dead broker is not fenced while one with an older first heartbeat is alive", "brokers", "own", ("C23", "L08"),
        Edit("controller.interface.sessions", "Sessions.record_contact", "self._contacts.move_to_end((broker_id, broker_epoch))", "pass"),
    ),
    row(
        "Q164", "a partition that is named twice is elected twice", "elections", "own", ("C21",),
        Edit("controller.handlers.elections", "of_topic", "seen.add(row)", "pass"),
    ),
)  # fmt: skip
