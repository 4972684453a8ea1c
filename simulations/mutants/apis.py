"""Mutants of what a cluster's people and brokers ask beside topics and registrations: features, directories, unclean
elections, configs, brokers that are forgotten, and what is refused.
"""

from __future__ import annotations

from simulations.mutants.controllers import row
from simulations.mutants.row import Edit

MUTANTS = (
    row(
        "Q35", "a feature level is raised that a broker does not support", "features", "KAFKA-17305", ("C19",),
        Edit(
            "controller.handlers.features", "_unsupported_reason",
            '_outside(f"Broker {broker_id}", ...)', "None",
        ),
    ),
    row(
        "Q60", "metadata.version is lowered although existing records need the higher level", "features", "KIP-778", ("C19",),
        Edit(
            "controller.handlers.features", "_check_metadata_version",
            "level < current and changes_metadata_between(current, level)", "False",
        ),
    ),
    row(
        "Q61", "a feature level is lowered by an upgrade request", "features", "KIP-584", ("C05", "C19"),
        Edit("controller.handlers.features", "_update", "level < current and upgrade_type == UPGRADE", "False"),
    ),
    row(
        "Q63", "the ELR depends on a broker's own min.insync.replicas", "features", "KIP-966", ("C19",),
        Edit(
            "controller.handlers.features", "update_features",
            "records = [*elr_safety_records(state, env), *records]", "pass",
        ),
    ),
    row(
        "Q64", "feature levels are shown before they are committed", "features", "KIP-584", ("C03",),
        Edit("controller.handlers.versions", "stable_levels", "state.features.last_change() >= 0", "False"),
    ),
    row(
        "Q65", "a validate-only request is carried out", "topics", "KIP-4", ("C05",),
        Edit("controller.handlers.topics", "create_topics", "() if request.validate_only else records", "records"),
    ),
    row(
        "Q68", "an uncleanly elected leader has no RECOVERING state", "elections", "KIP-704", ("C14",),
        Edit(
            "controller.rules.bulk_rules", "BulkRules.changes",
            "self.is_unclean & self.is_recovered", "self.is_unclean & False",
        ),
    ),
    row(
        "Q69", "a replica whose directory fails remains leader", "directories", "KIP-858", ("C20",),
        Edit(
            "controller.handlers.heartbeats", "directories_offline",
            "records += leader_and_isr_records(state, env, rows, removed=broker.broker_id)", "pass",
        ),
    ),
    row(
        "Q70", "a replica in a failed directory is elected", "directories", "KIP-858", ("C20",),
        Edit(
            "controller.state.tables.brokers", "Broker.has_online",
            "not self.directories or directory in self.directories", "True",
        ),
        Edit(
            "controller.rules.bulk_elections", "_acceptable",
            "(owner[number] == replica) | has_none(replica)", "has_none(replica) | True",
        ),
    ),
    row(
        "Q71", "the directory of a replica is not stored", "directories", "KIP-858", ("L10",),
        Edit(
            "controller.handlers.directories", "assign_replicas",
            "records += [] if change is None else [change]", "",
        ),
    ),
    row(
        "Q73", "an unregistered broker stays in the ISR", "brokers", "KIP-631", ("C06", "C07"),
        Edit(
            "controller.handlers.brokers", "unregister_broker",
            "records = leader_and_isr_records(state, env, rows, removed=broker_id)",
            "records: list[Item] = []",
        ),
    ),
    row(
        "Q74", "a broker of another cluster gets a wrong error", "brokers", "KIP-631", ("C18",),
        Edit("controller.handlers.brokers", "check_registration", "request.cluster_id != env.cluster_id", "False"),
    ),
    row(
        "Q75", "an unknown broker is refused with a wrong error", "brokers", "KIP-185", ("C18",),
        Edit(
            "controller.handlers.brokers", "unregister_broker",
            "ApiError(Error.BROKER_ID_NOT_REGISTERED, ...)", "ApiError(Error.INVALID_REQUEST, ...)",
        ),
    ),
    row(
        "Q76", "the level that another level depends on is not required", "features", "KIP-1022", ("C19",),
        Edit("controller.handlers.features", "_update", "check_needs(name, level, proposed, env.release)", "pass"),
    ),
    row(
        "Q77", "the answer to an ISR change has the former leader epoch", "isr", "KIP-497", ("C08",),
        Edit(
            "controller.handlers.isr", "_Alteration.result",
            "PartitionResult(**..., leader_epoch=partition.leader_epoch, **...)",
            "PartitionResult(**..., leader_epoch=asked.leader_epoch, **...)",
            names="asked = self.asked",
        ),
    ),
    row(
        "Q78", "a recreated topic has the id of the deleted one", "topics", "KIP-516", ("C15",),
        Edit(
            "controller.handlers.topics", "create_topic_records",
            "random_topic_id(env)",
            "random_topic_id(type(env)(env.cluster_id, env.node_id, type(env.random)(topic.name), env.settings))",
            names="given_configs(topic)",
        ),
    ),
    row(
        "Q79", "refused items are missing in the answer", "configs", "KIP-339", ("C22",),
        Edit(
            "controller.handlers.configs", "_responses",
            "for resource, error in env.slices.spread(answers):\n    ...",
            "for resource, error in answers:\n    if error is not None:\n        continue\n    ...",
        ),
    ),
    row(
        "Q80", "waiting requests get no answer when leadership ends", "answers", "KAFKA-10677", ("L05",),
        Edit(
            "controller.core.active", "renounce",
            "controller.waiting.clear()", "controller.waiting.clear() and ()",
        ),
    ),
    row(
        "Q81", "observers cannot fetch a snapshot", "brokers", "KIP-630", ("L09",),
        Edit(
            "raft.fetch_snapshot", "on_request",
            "stored is None or wanted == BOOTSTRAP",
            "stored is None or wanted == BOOTSTRAP or request.replica_id not in replica.voters.ids",
            names="request.replica_id == replica.key.id",
        ),
    ),
    row(
        "Q82", "the answer to CreateTopics has one partition too few", "topics", "KIP-525", ("C21",),
        Edit(
            "controller.handlers.topics", "create_topic_records",
            "TopicResult(**..., num_partitions=len(assignments), **...)",
            "TopicResult(**..., num_partitions=len(assignments) - 1, **...)",
        ),
    ),
    row(
        "Q83", "an active controller's writes do not count for its next snapshot", "snapshots", "KIP-630", ("C23",),
        Edit("controller.core.serving", "write_result", "controller.snapshots.on_appended(appended)", "pass"),
    ),
)  # fmt: skip
