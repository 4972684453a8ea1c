"""Mutants of what a cluster's people and brokers ask beside topics and registrations: features, directories, unclean
elections, configs, brokers that are forgotten, and what is refused.
"""

from __future__ import annotations

from simulations.mutants.controllers import row
from simulations.mutants.row import Edit

MUTANTS = (
    row(
        "Q35", "a feature level is raised that a broker does not support", "features", "KAFKA-17305", ("C19",),
        Edit("controller.handlers.features", '        reason = _outside(f"Broker {broker_id}", state.brokers[broker_id].features.get(name, DISABLED), level)\n', "        reason = None\n"),
    ),
    row(
        "Q60", "metadata.version is lowered although existing records need the higher level", "features", "KIP-778", ("C19",),
        Edit("controller.handlers.features", "    if level < current and changes_metadata_between(current, level):", "    if False:"),
    ),
    row(
        "Q61", "a feature level is lowered by an upgrade request", "features", "KIP-584", ("C05", "C19"),
        Edit("controller.handlers.features", "    if level < current and upgrade_type == UPGRADE:", "    if False:"),
    ),
    row(
        "Q63", "the ELR depends on a broker's own min.insync.replicas", "features", "KIP-966", ("C19",),
        Edit("controller.handlers.features", "        records = [*elr_safety_records(state, env), *records]\n", "        pass\n"),
    ),
    row(
        "Q64", "feature levels are shown before they are committed", "features", "KIP-584", ("C03",),
        Edit("controller.handlers.versions", "    if state.features.last_change() >= 0:", "    if False:"),
    ),
    row(
        "Q65", "a validate-only request is carried out", "topics", "KIP-4", ("C05",),
        Edit("controller.handlers.topics", "() if request.validate_only else records", "records"),
    ),
    row(
        "Q68", "an uncleanly elected leader has no RECOVERING state", "elections", "KIP-704", ("C14",),
        Edit("controller.rules.bulk_rules", "        recovers = self.is_unclean & self.is_recovered\n", "        recovers = self.is_unclean & False\n"),
    ),
    row(
        "Q69", "a replica whose directory fails remains leader", "directories", "KIP-858", ("C20",),
        Edit("controller.handlers.heartbeats", "        records += leader_and_isr_changes(state, env, rows, removed=broker.broker_id)\n    # A broker without", "        pass\n    # A broker without"),
    ),
    row(
        "Q70", "a replica in a failed directory is elected", "directories", "KIP-858", ("C20",),
        Edit("controller.state.tables.brokers", "        return not self.directories or directory in self.directories\n", "        return True\n"),
        Edit("controller.rules.bulk_elections", "        is_online = (owner[number] == replica) | has_none(replica)\n", "        is_online = has_none(replica) | True\n"),
    ),
    row(
        "Q71", "the directory of a replica is not stored", "directories", "KIP-858", ("L10",),
        Edit("controller.handlers.directories", "                    records += [] if change is None else [change]\n                    if", "                    if"),
    ),
    row(
        "Q73", "an unregistered broker stays in the ISR", "brokers", "KIP-631", ("C06", "C07"),
        Edit("controller.handlers.brokers", "    records = leader_and_isr_changes(state, env, rows, removed=broker_id)\n    records.append((Unregister", "    records: list[Item] = []\n    records.append((Unregister"),
    ),
    row(
        "Q74", "a broker of another cluster gets a wrong error", "brokers", "KIP-631", ("C18",),
        Edit("controller.handlers.brokers", "    if request.cluster_id != env.cluster_id:", "    if False:"),
    ),
    row(
        "Q75", "an unknown broker is refused with a wrong error", "brokers", "KIP-185", ("C18",),
        Edit("controller.handlers.brokers", "        raise ApiError(Error.BROKER_ID_NOT_REGISTERED, f\"Broker ID {broker_id}", "        raise ApiError(Error.INVALID_REQUEST, f\"Broker ID {broker_id}"),
    ),
    row(
        "Q76", "the level that another level depends on is not required", "features", "KIP-1022", ("C19",),
        Edit("controller.handlers.features", "            check_needs(name, level, proposed, env.release)\n", "            pass\n"),
    ),
    row(
        "Q77", "the answer to an ISR change has the former leader epoch", "isr", "KIP-497", ("C08",),
        Edit("controller.handlers.isr", "            leader_epoch=partition.leader_epoch,\n", "            leader_epoch=asked.leader_epoch,\n"),
    ),
    row(
        "Q78", "a recreated topic has the id of the deleted one", "topics", "KIP-516", ("C15",),
        Edit("controller.handlers.topics", "    topic_id = random_topic_id(env.random)\n", "    topic_id = random_topic_id(type(env.random)(topic.name))\n"),
    ),
    row(
        "Q79", "refused items are missing in the answer", "configs", "KIP-339", ("C22",),
        Edit("controller.handlers.configs", "    for resource, error in env.slices.spread(answers):\n", "    for resource, error in answers:\n        if error is not None:\n            continue\n"),
    ),
    row(
        "Q80", "waiting requests get no answer when leadership ends", "answers", "KAFKA-10677", ("L05",),
        Edit("controller.core.active", "    for context, request in controller.waiting.clear():\n", "    for context, request in controller.waiting.clear() and ():\n"),
    ),
    row(
        "Q81", "observers cannot fetch a snapshot", "brokers", "KIP-630", ("L09",),
        Edit("raft.fetch_snapshot", "    if stored is None or wanted == BOOTSTRAP:", "    if stored is None or wanted == BOOTSTRAP or request.replica_id not in replica.voters.ids:"),
    ),
    row(
        "Q82", "the answer to CreateTopics has one partition too few", "topics", "KIP-525", ("C21",),
        Edit("controller.handlers.topics", "        num_partitions=len(assignments),\n", "        num_partitions=len(assignments) - 1,\n"),
    ),
    row(
        "Q83", "an active controller's writes do not count for its next snapshot", "snapshots", "KIP-630", ("C23",),
        Edit("controller.core.serving", "            controller.snapshots.appended(appended)\n", "            pass\n"),
    ),
)  # fmt: skip
