"""Mutants of the controller: what it answers and when, what it takes back, and its rules of brokers and partitions."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant


def row(
    number: str, name: str, subject: str, origin: str, expected: tuple[str, ...], *edits: Edit, ci: bool = False
) -> Mutant:
    return Mutant(number, name, subject, origin, expected, edits, ci=ci, seeds=200, level="controller")


MUTANTS = (
    row(
        "Q01", "a request is answered before its records are committed", "answers", "classic", ("C02", "C05"),
        Edit(
            "controller.core.waiting", "Waiting._send_or_keep",
            "waiter.offset < self.committed_end_offset", "True",
        ),
        ci=True,
    ),
    row(
        "Q01b", "an answer is sent one record too early", "answers", "KAFKA-12619", ("C02",),
        Edit(
            "controller.core.waiting", "Waiting.on_committed",
            "self._by_offset[0][0] < end_offset", "self._by_offset[0][0] <= end_offset",
        ),
    ),
    row(
        "Q02", "a read shows uncommitted records", "answers", "KAFKA-14457", ("C03", "C05"),
        Edit("controller.core.serving", "carry_out", "min(result.rests_on, last_offset)", "-1"),
    ),
    row(
        "Q02b", "a read is answered without confirming leadership", "answers", "KIP-595", ("C05",),
        Edit("controller.core.serving", "carry_out", "result.confirm", "False"),
    ),
    row(
        "Q04", "uncommitted changes are not undone", "failover", "KAFKA-13100", ("C04", "C01", "ASSERT"),
        Edit("controller.core.active", "renounce", "state.revert()", "pass"),
        ci=True,
    ),
    row(
        "Q05", "a leader is active before it has read all", "failover", "KAFKA-15345", ("C01", "C09", "ASSERT"),
        Edit(
            "controller.node.feed", "StateFeed._feed_log",
            "not self._controller.is_active and end_offset < self._high_watermark",
            "claim is None and not self._controller.is_active and end_offset < self._high_watermark",
            names="claim is not None",
        ),
    ),
    row(
        "Q08", "a request in several batches is no transaction", "atomicity", "KAFKA-14996", ("C13", "C06"),
        Edit("controller.core.log_writer", "write", "state.metadata_version >= TRANSACTIONS", "False"),
        Edit(
            "controller.core.log_writer", "write",
            "if atomic:\n    ...", "if False:\n    ...",
        ),
    ),
    row(
        "Q11", "a broker's epoch is used again", "brokers", "KIP-631", ("C09",),
        Edit(
            "controller.handlers.brokers", "register_broker",
            "(env.next_offset, True, False)",
            "(existing.epoch if existing else env.next_offset, True, False)",
            names="existing is None",
        ),
        ci=True,
    ),
    row(
        "Q13", "a second process of a broker registers while the first is running", "brokers", "KIP-631", ("C09",),
        Edit(
            "controller.handlers.brokers", "check_registration",
            "... and env.sessions.is_valid(...) and ...",
            "... and False and env.sessions.is_valid(...) and ...",
        ),
    ),
    row(
        "Q14", "a heartbeat of a former incarnation counts", "brokers", "KIP-631", ("C10", "C06"),
        Edit(
            "controller.handlers.heartbeats", "require_broker",
            "broker.epoch != broker_epoch", "broker.epoch < broker_epoch",
        ),
    ),
    row(
        "Q16", "of two brokers whose sessions expired one is never fenced", "brokers", "KAFKA-13173", ("L08", "C06"),
        Edit(
            "controller.handlers.heartbeats", "_forget",
            "sessions.forget_contact(broker_id, epoch)", "sessions._contacts.clear()",
        ),
    ),
    row(
        "Q17", "a broker is unfenced before it has read its registration", "brokers", "KAFKA-13959", ("C06",),
        Edit(
            "controller.handlers.heartbeats", "next_state",
            "not request.want_fence and request.current_metadata_offset >= registration_offset",
            "not request.want_fence",
        ),
    ),
    row(
        "Q17b", "an unclean start leaves a broker eligible", "brokers", "KIP-966", ("C16",),
        Edit(
            "controller.handlers.brokers", "register_broker",
            "context.version >= CLEAN_SHUTDOWN_VERSION and former_epoch == request.previous_broker_epoch",
            "context.version >= CLEAN_SHUTDOWN_VERSION",
        ),
    ),
    row(
        "Q19", "a stale partition epoch is accepted", "isr", "KIP-497", ("C10", "C16", "C05"),
        Edit("controller.handlers.isr", "check", "asked.partition_epoch < partition.partition_epoch", "False"),
        ci=True,
    ),
    row(
        "Q20", "a stale leader epoch is accepted", "isr", "KIP-497", ("C10", "C16", "C05"),
        # A former leader has an old partition epoch too: alone this one changes nothing.
        Edit("controller.handlers.isr", "check", "asked.leader_epoch < partition.leader_epoch", "False"),
        Edit("controller.handlers.isr", "check", "asked.partition_epoch < partition.partition_epoch", "False"),
        Edit("controller.handlers.isr", "check", "broker_id != partition.leader", "False"),
    ),
    row(
        "Q20b", "a fenced replica gets back into the ISR", "isr", "KIP-903", ("C06", "C07"),
        Edit(
            "controller.handlers.isr", "_Alteration.check_members",
            "... or not broker.is_active or ...", "... or ...",
        ),
    ),
    row(
        "Q20c", "a former incarnation of a broker gets into the ISR", "isr", "KIP-903", ("C16",),
        Edit(
            "controller.handlers.isr", "_Alteration.check_members",
            "... or epoch not in (ANY_EPOCH, broker.epoch) or ...", "... or ...",
        ),
    ),
    row(
        "Q23", "the last replica is removed from the ISR", "isr", "KIP-966", ("C07", "L10"),
        Edit("controller.rules.bulk_rules", "BulkRules.changes", "writes_isr &= isr_size > 0", "pass"),
    ),
    row(
        "Q23b", "a replica that leaves the ISR below min ISR is not kept in the ELR", "isr", "KIP-966", ("C07", "C14"),
        Edit(
            "controller.rules.bulk_rules", "BulkRules.shrink",
            "_compact([np.where(is_below, column, NOBODY) for column in candidates])", "[]",
        ),
    ),
    row(
        "Q25", "a reassignment completes before all new replicas are in sync", "reassignment", "KAFKA-15665", ("C11",),
        Edit(
            "controller.rules.reassignment", "complete",
            "if not set(adding) <= set(left_isr):\n    ...", "if False:\n    ...",
        ),
        ci=True,
    ),
    row(
        "Q26", "a cancelled reassignment keeps the replicas that it added", "reassignment", "KIP-455", ("C11",),
        Edit(
            "controller.rules.reassignment", "revert",
            "(replica for replica in partition.replicas if replica not in partition.adding)",
            "(replica for replica in partition.replicas if replica not in partition.removing)",
        ),
    ),
    row(
        "Q28", "a broker that is leaving is elected", "elections", "KIP-841", ("C06",),
        Edit(
            "controller.state.tables.brokers", "Broker.is_active",
            "not self.fenced and not self.in_controlled_shutdown", "not self.fenced",
        ),
    ),
    row(
        "Q28b", "a fenced broker is elected", "elections", "KIP-631", ("C06",),
        Edit(
            "controller.state.tables.brokers", "Broker.is_active",
            "not self.fenced and not self.in_controlled_shutdown", "not self.in_controlled_shutdown",
        ),
    ),
    row(
        "Q31", "a block of producer ids is allocated twice", "producer ids", "KIP-730", ("C12", "C05"),
        Edit("controller.handlers.producer_ids", "allocate_producer_ids", "first + BLOCK_SIZE", "first + 1"),
    ),
    row(
        "Q31b", "producer ids start again after a failover", "producer ids", "KIP-730", ("C12", "C05"),
        Edit(
            "controller.handlers.producer_ids", "allocate_producer_ids",
            "block is None", "block is None or state.producer_ids.change_offset(NEXT) < 0",
            names="state.producer_ids.get(NEXT)",
        ),
    ),
    row(
        "Q34", "a snapshot leaves producer ids out", "snapshots", "KAFKA-15860", ("S17", "C01"),
        Edit("controller.state.records_of", "SECTIONS", "(..., producer_ids, ...)", "(..., ...)"),
    ),
    row(
        "Q34b", "a snapshot holds what is not committed", "snapshots", "KAFKA-14618", ("S17", "C01"),
        Edit(
            "controller.state.view", "stable_view",
            "for entry in state.undo.since(state.stable_end_offset):\n    view.take_back(entry)", "",
        ),
    ),
    row(
        "Q136", "a snapshot changes with the state while it is written", "snapshots", "own", ("S17", "C01"),
        Edit("controller.state.partitions.columns", "Columns.before_change", "copy.before_change(rows)", "pass"),
    ),
    row(
        "Q34c", "a snapshot is loaded without clearing the state", "snapshots", "KAFKA-14894", ("C01", "ASSERT"),
        Edit("controller.state.state", "State.begin_load", "table.reset()", "pass"),
    ),
    row(
        "Q37", "the preferred replica leads though it is not in sync", "elections", "KAFKA-13682", ("C14", "C07"),
        Edit(
            "controller.rules.bulk_rules", "BulkRules.elect",
            "valid[0]", "acceptable[0]",
            names="zip(acceptable, self.replicas, strict=True)",
        ),
    ),
    row(
        "Q39", "two topics can have one name", "topics", "own", ("C15", "C05", "ASSERT"),
        Edit("controller.handlers.topics", "check_new_name", "name in state.topic_ids", "False"),
    ),
    row(
        "Q40", "configs of a topic remain after its deletion", "topics", "own", ("C05",),
        Edit(
            "controller.state.partitions.topics", "replay_remove_topic",
            "(TOPIC, name) in state.configs", "False",
        ),
    ),
    row(
        "Q86", "a write is served between two slices of a long write", "slices", "own", ("ASSERT",),
        Edit(
            "controller.core.long_steps", "_waits",
            "api.kind is Kind.WRITE or phase is Phase.APPLYING", "phase is Phase.APPLYING",
        ),
    ),
    row(
        "Q88", "a long write goes on after leadership was lost", "slices", "own", ("ASSERT", "C01", "C04"),
        Edit(
            "controller.core.long_steps", "LongSteps.pause",
            "step.is_abandoned or self._must_park(APIS[step.context.api_key])",
            "self._must_park(APIS[step.context.api_key])",
        ),
    ),
    row(
        "Q91", "a heartbeat writes between two slices of a long write", "slices", "own", ("ASSERT",),
        Edit(
            "controller.core.serving", "decide",
            "context.api_key == BROKER_HEARTBEAT and result.records and controller.long.holds_writes",
            "False",
        ),
    ),
    row(
        "Q99", "a long write goes on though another write has changed what it read", "slices", "own",
        ("ASSERT", "C05", "C15"),
        Edit(
            "controller.core.long_steps", "LongSteps.pause",
            "step.phase is Phase.OPTIMISTIC and self._is_overtaken(step.reads)", "False",
        ),
        Edit("controller.core.long_steps", "LongSteps.apply", 'assert not self._state.undo.noted, "what others changed was not compared"', ""),
    ),
    row(
        "Q100", "a long write that was overtaken begins again and again", "slices", "own", ("ASSERT", "L17"),
        Edit("controller.core.long_steps", "LongSteps.begin_again", "step.is_again = True", "pass"),
        Edit("controller.core.long_steps", "LongSteps.begin_again", 'assert not step.is_again, "while writes wait, nothing overtakes"', ""),
    ),
    row(
        "Q101", "a large change holds up the others while it is decided", "slices", "own", ("L17",),
        Edit("controller.core.long_steps", "LongSteps.hold", "step.is_again", "True"),
    ),
    row(
        "Q95", "no large request waits for as long as the last one took", "slices", "own", ("L17",),
        Edit("controller.node.long_requests", "LongRequests.on_done", "taken_s >= self.rest_from_s", "False"),
    ),
    row(
        "Q96", "the large requests of one user starve those of another", "slices", "own", ("L17",),
        Edit(
            "controller.node.long_requests", "LongRequests._go_on",
            "min(self._waiting, key=lambda name: self._turns.get(name, 0))", "next(iter(self._waiting))",
        ),
    ),
    row(
        "Q97", "heartbeats wait among the large requests", "slices", "own", ("L17",),
        Edit(
            "controller.node.long_requests", "may_be_long",
            "api.kind in (Kind.READ, Kind.WRITE) and (api.needs is not CLUSTER_ACTION or api.api_key in OF_BROKERS)",
            "api.kind in (Kind.READ, Kind.WRITE)",
        ),
    ),
    row(
        "Q132", "the large requests of brokers wait for those of users", "slices", "own", ("L17",),
        Edit("controller.node.long_requests", "LongRequests._go_on", "BROKERS in self._waiting", "False"),
    ),
    row(
        "Q131", "a part of an AlterPartition is left out", "slices", "own", ("C22",),
        Edit("controller.node.request_parts", "Parts.take", "next(self._parts, None)", "next(islice(self._parts, 1, None), None)"),
    ),
    row(
        "Q98", "of the inputs that waited for a long step, all but the first wait for the next", "slices", "own", ("L17",),
        Edit("controller.core.long_steps", "LongSteps.end", "held, self.held = self.held, []", "held, self.held = self.held[:1], self.held[1:]"),
    ),
    row(
        "Q94", "a standby shows a batch before all of it is replayed", "slices", "own", ("ASSERT", "S01", "C05"),
        Edit("controller.node.feed", "StateFeed._feed_part", "replay is not None and replay.is_at_end", "replay is not None"),
        Edit("controller.state.partitions.bulk_batches", "BatchReplay.end", 'assert self.is_at_end, "records are left"', ""),
    ),
    row(
        "Q133", "a fenced broker is in the ISR of the many partitions of a new topic", "topics", "own", ("C06",),
        Edit(
            "controller.handlers.assignments", "first_partitions",
            "len(active_among(state, brokers)) < len(brokers)", "False",
        ),
    ),
    row(
        "Q134", "the many replicas of a new topic are in one directory", "directories", "KIP-858", ("C20",),
        Edit(
            "controller.core.partition_columns", "_columns",
            "np.searchsorted(brokers, replicas)", "np.zeros_like(replicas)",
        ),
    ),
    row(
        "Q135", "a topic whose creation is lost keeps its partitions", "topics", "own", ("C01", "C04", "C13", "ASSERT"),
        Edit("controller.state.partitions.topics", "Topics.swap", "self.partitions.hide(old)", "pass"),
    ),
    row(
        "Q111", "columns of a committed part of a transaction leave no undo entry", "atomicity", "own",
        ("C01", "C04", "C13", "ASSERT"),
        Edit(
            "controller.state.partitions.bulk_replay", "replay_group",
            "state.undo.recording", "last_offset >= state.committed_end_offset",
            names="state.begin_record(last_offset)",
        ),
    ),
    row(
        "Q112", "partitions lose their last leader before their broker is fenced", "slices", "own", ("C21",),
        Edit(
            "controller.handlers.heartbeats", "take_some",
            "leader_and_isr_changes(state, env, rows, removed=broker.broker_id).with_leader()",
            "leader_and_isr_changes(state, env, rows, removed=broker.broker_id)",
        ),
    ),
    row(
        "Q113", "a fence in parts begins with the same partitions in each step", "slices", "own", ("C23",),
        Edit("controller.handlers.heartbeats", "fence_expired", "sessions.left_below(broker_id, epoch)", "0"),
    ),
    row(
        "Q115", "a controlled shutdown in steps ends with its first step", "slices", "own", ("C21", "L08"),
        Edit("controller.interface.sessions", "Sessions.leave", "self.leaving[broker_id] = next_row", "pass"),
    ),
    row(
        "Q117", "a controlled shutdown in steps waits for its first step to be read alone", "slices", "own", ("C21",),
        Edit(
            "controller.interface.sessions", "Sessions.leave", "self._brokers[broker_id].shutdown_offset = offset",
            "self._brokers[broker_id].shutdown_offset = offset if self._brokers[broker_id].shutdown_offset < 0 else self._brokers[broker_id].shutdown_offset",
        ),
    ),
    row(
        "Q119", "a broker that leads nothing may stop before the last step of its controlled shutdown", "slices", "own",
        ("C21",),
        Edit("controller.handlers.heartbeats", "must_leave", "broker_id in env.sessions.leaving", "False"),
    ),
    row(
        "Q128", "a controlled shutdown in steps begins with the same partitions in each step", "slices", "own",
        ("C21", "L08"),
        Edit("controller.handlers.heartbeats", "leave_isrs", "next_to_leave(state, env, broker_id, start)", "next_to_leave(state, env, broker_id, 0)"),
    ),
    row(
        "Q129", "a new active controller does not go on with a controlled shutdown", "slices", "own", ("C21", "L08"),
        Edit(
            "controller.handlers.heartbeats", "in_controlled_shutdown", "next_to_leave(state, env, broker.broker_id, 0)",
            "([], None) if broker.in_controlled_shutdown else next_to_leave(state, env, broker.broker_id, 0)",
        ),
    ),
    row(
        "Q130", "a standby that refuses a large write cannot become the active controller", "slices", "own", ("ASSERT",),
        Edit(
            "controller.core.active", "claim", "controller.long.abandon()",
            "if controller.is_active:\n    controller.long.abandon()",
        ),
    ),
    row(
        "Q92", "inputs that waited for a long step are lost", "slices", "own", ("L17", "L05", "C06", "L08"),
        Edit("controller.core.serving", "serve_in_slices", "controller.effects.append(Requeue(held))", "pass"),
    ),
    row(
        "Q84", "a leader that has resigned is still shown as the leader", "views", "own", ("C24",),
        Edit(
            "controller.server.http.probes", "known_leader",
            "replica.leader_id if isinstance(replica.role, Leader | Follower) else None", "replica.leader_id",
        ),
        ci=True,
    ),
    row(
        "Q85", "a leader is shown as ready before its first record is committed", "views", "own", ("C24",),
        Edit("controller.server.http.probes", "check_joined", "not node.controller.is_active", "False"),
    ),
    row(
        "Q41", "the number of partitions can be reduced", "topics", "KIP-195", ("C05", "C13", "ASSERT"),
        Edit("controller.handlers.partition_creation", "create_partition_records", "asked.count < current", "False"),
    ),
)  # fmt: skip
