"""Each module of `raft`, `controller` and `tools` has its test at the same path in `tests/`, or a row with a reason."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]

# Values, rows of a table or declarations: there is no rule to test. tests/test_tidy.py and mypy check their form.
NO_RULES = {
    "raft.effects", "raft.follower_state", "raft.inputs", "raft.limits", "raft.parked", "raft.storage.errors",
    "raft.voter_change",
    "controller.interface.effects", "controller.interface.env", "controller.interface.inputs",
    "controller.interface.policies", "controller.interface.slices",
}  # fmt: skip

# Module -> the test that drives it through another module.
TESTED_BY = {
    "raft.network.channels": "raft/network/test_channel.py",
    "raft.network.connection": "raft/network/test_server.py",
    "raft.network.link": "raft/network/test_channel.py",
    "raft.network.sasl_login": "raft/network/test_sasl_gate.py",
    "raft.network.security": "raft/network/test_tls.py",
    "raft.network.versions": "raft/network/test_channel.py",
    "raft.storage.directory_lock": "raft/storage/test_files.py",
    "raft.storage.flusher": "raft/storage/test_disk_queue.py",
    "raft.storage.opening": "raft/storage/test_recovery.py",
    "raft.storage.prefix_keeper": "raft/storage/test_recovery.py",
    "raft.storage.segment": "raft/storage/test_recovery.py",
    "raft.storage.snapshots": "raft/storage/test_storage.py",
    "raft.storage.walk": "raft/storage/test_recovery.py",
    "controller.config.authorizer": "controller/node/test_authorizers.py",
    "controller.config.client_metrics": "controller/config/test_resources.py",
    "controller.config.file": "controller/config/test_node.py",
    "controller.config.group_checks": "controller/config/test_node.py",
    "controller.config.java_characters": "controller/config/test_java_regex.py",
    "controller.config.java_matching": "controller/config/test_java_regex.py",
    "controller.config.java_pattern": "controller/config/test_resources.py",
    "controller.config.java_replacing": "controller/config/test_java_regex.py",
    "controller.config.keys.client_metrics": "controller/config/test_keys.py",
    "controller.config.keys.dynamic": "controller/config/test_dynamic.py",
    "controller.config.keys.effects": "controller/config/test_reference.py",
    "controller.config.keys.group": "controller/config/test_keys.py",
    "controller.config.keys.own": "controller/config/test_keys.py",
    "controller.config.keys.server": "controller/config/test_keys.py",
    "controller.config.keys.topic": "controller/config/test_keys.py",
    "controller.config.node_checks": "controller/config/test_node.py",
    "controller.config.node_values": "controller/config/test_node.py",
    "controller.config.served": "controller/config/test_node.py",
    "controller.config.plugins": "controller/node/test_plugins.py",
    "controller.config.topic_values": "controller/config/test_resources.py",
    "controller.config.unknown_keys": "controller/config/test_node.py",
    "controller.config.values.group_values": "controller/config/test_resources.py",
    "controller.config.values.quorum_addresses": "controller/config/values/test_listeners.py",
    "controller.config.values.text": "controller/config/values/test_definition.py",
    "controller.config.values.valid": "controller/config/values/test_definition.py",
    "controller.config.listener_values": "controller/config/test_security_checks.py",
    "controller.core.active": "controller/core/test_controller.py",
    "controller.core.periodic_work": "controller/core/test_controller.py",
    "controller.core.serving": "controller/core/test_controller.py",
    "controller.node.arrivals": "controller/node/test_node.py",
    "controller.node.making": "controller/server/test_door.py",
    "controller.node.replies": "controller/node/test_node.py",
    "controller.core.snapshots": "controller/core/test_controller.py",
    "controller.core.standby": "controller/core/test_controller.py",
    "controller.core.steps": "controller/core/test_controller.py",
    "tools.kraftctl.bench.bench_figures": "tools/kraftctl/bench/test_bench.py",
    "tools.kraftctl.bench.bench_measures": "tools/kraftctl/bench/test_bench.py",
    "tools.kraftctl.bench.bench_scratch": "tools/kraftctl/bench/test_bench.py",
    "tools.kraftctl.points.changes": "tools/kraftctl/history/test_history.py",
    "tools.kraftctl.doctor.doctor_directories": "tools/kraftctl/doctor/test_doctor.py",
    "tools.kraftctl.doctor.doctor_network": "tools/kraftctl/doctor/test_doctor.py",
    "tools.kraftctl.findings": "tools/kraftctl/doctor/test_doctor.py",
    "tools.kraftctl.history.diff": "tools/kraftctl/history/test_history.py",
    "tools.kraftctl.points.entries": "tools/kraftctl/history/test_history.py",
    "tools.kraftctl.points.filters": "tools/kraftctl/history/test_history.py",
    "tools.kraftctl.points.noting_image": "tools/kraftctl/history/test_history.py",
    "tools.kraftctl.points.past_quorum": "tools/kraftctl/history/test_watch.py",
    "tools.kraftctl.points.places": "tools/kraftctl/history/test_at.py",
    "tools.kraftctl.repair.recovery_steps": "tools/kraftctl/repair/test_recover.py",
    "tools.kraftctl.points.points": "tools/kraftctl/history/test_at.py",
    "tools.kraftctl.running": "tools/kraftctl/history/test_watch.py",
    "tools.kraftctl.history.watch_service": "tools/kraftctl/history/test_watch.py",
    "tools.kraftctl.backup.live_copy": "interop/test_backup.py",
    "tools.kraftctl.run.bound_process": "tools/kraftctl/run/test_up.py",
    "tools.kraftctl.run.local_processes": "tools/kraftctl/run/test_up.py",
    "tools.kraftctl.run.local_quorum": "tools/kraftctl/run/test_up.py",
    "tools.kraftctl.main": "tools/kraftctl/cluster/test_status.py",
    "tools.kraftctl.nodes.node_status": "tools/kraftctl/cluster/test_status.py",
    "tools.kraftctl.nodes.node_views": "tools/kraftctl/run/test_up.py",
    "tools.kraftctl.run.probe": "tools/kraftctl/run/test_container.py",
    "tools.registry": "test_setup.py",
    "tools.client.quorum_options": "tools/kraftctl/test_command_config.py",
    "tools.kraftctl.run.start": "controller/server/test_start.py",
    "tools.kraftctl.run.stock_brokers": "interop/test_up.py",
    "tools.kraftctl.terminal": "tools/kraftctl/repair/test_log.py",
    "tools.kraftctl.run.up_screen": "tools/kraftctl/run/test_up.py",
    "controller.features.record_versions": "controller/state/test_records_of.py",
    "controller.handlers.assignments": "controller/handlers/test_topics.py",
    "controller.handlers.config_changes": "controller/handlers/test_configs.py",
    "controller.handlers.logger_levels": "controller/handlers/test_configs.py",
    "controller.handlers.partitions": "controller/handlers/test_isr.py",
    "controller.handlers.registrations": "controller/handlers/test_brokers.py",
    "controller.handlers.topic_configs": "controller/config/test_effective.py",
    "tools.kraftctl.command_trees": "tools/kraftctl/test_completion.py",
    "controller.interface.access": "controller/node/test_admission.py",
    "controller.interface.refusals": "controller/core/test_apis.py",
    "controller.interface.results": "controller/handlers/test_configs.py",
    "controller.node.loopback_requests": "controller/server/test_start.py",
    "controller.node.timers": "controller/server/test_start.py",
    "tools.offline.directory_files": "tools/offline/test_formatting.py",
    "controller.config.values.java_forms": "tools/kafka/dump_log/test_dump_log.py",
    "tools.offline.load": "tools/offline/test_image.py",
    "tools.offline.marked_directories": "tools/offline/test_formatting.py",
    "tools.offline.metadata_values": "tools/offline/test_image.py",
    "controller.rules.bulk_rules": "controller/rules/test_bulk_elections.py",
    "controller.rules.partition_elections": "controller/handlers/test_elections.py",
    "controller.rules.permissions": "controller/core/test_authorization.py",
    "controller.security.ciphers": "controller/security/test_contexts.py",
    "controller.security.files": "controller/security/test_watched_file.py",
    "controller.server.grpc.descriptors": "controller/server/grpc/test_reflection.py",
    "controller.server.grpc.image": "controller/server/grpc/test_metadata.py",
    "controller.server.grpc.opening": "controller/server/grpc/test_watch.py",
    "controller.server.grpc.port": "controller/server/grpc/test_watch.py",
    "controller.server.grpc.status": "controller/server/grpc/test_watch.py",
    "controller.server.grpc.time_slices": "controller/server/grpc/test_changes.py",
    "controller.server.http.answers": "controller/server/http/test_connection.py",
    "controller.server.http.metrics": "controller/server/http/test_start.py",
    "controller.server.http.page": "controller/server/http/test_start.py",
    "controller.server.http.port": "controller/server/http/test_connection.py",
    "controller.server.http.reading": "controller/server/http/test_connection.py",
    "controller.server.identity": "controller/server/test_start.py",
    "controller.state.partitions.bulk_placing": "controller/state/test_snapshots.py",
    "controller.state.partitions.bulk_uncommon_fields": "controller/state/test_snapshots.py",
    "controller.state.tables.acl": "controller/handlers/test_acls.py",
    "tools.kafka.acls.acl_arguments": "tools/kafka/test_stock_answers.py",
    "tools.kafka.acls.acl_calls": "tools/kafka/acls/test_acls.py",
    "tools.offline.acl_names": "tools/kafka/test_stock_answers.py",
    "tools.kafka.acls.acl_options": "tools/kafka/acls/test_acls.py",
    "tools.kafka.broker_api_versions": "tools/kafka/test_tools.py",
    "tools.kafka.cluster": "tools/kafka/test_tools.py",
    "tools.kafka.cluster_calls": "tools/kafka/test_tools.py",
    "tools.kafka.election_calls": "tools/kafka/test_tools.py",
    "tools.kafka.election_file": "tools/kafka/test_stock_answers.py",
    "tools.client.exceptions": "tools/client/test_admin.py",
    "tools.kafka.feature_calls": "tools/kafka/test_tools.py",
    "tools.kafka.features": "tools/kafka/test_stock_answers.py",
    "tools.kafka.leader_election": "tools/kafka/test_stock_answers.py",
    "tools.kafka.metadata_quorum": "tools/kafka/test_stock_answers.py",
    "tools.kafka.new_voter": "tools/kafka/test_stock_answers.py",
    "tools.kafka.quorum_calls": "tools/kafka/test_tools.py",
    "tools.kafka.reassign.reassignment_calls": "tools/kafka/reassign/test_reassign_partitions.py",
    "tools.kafka.reassign.reassignment_execution": "tools/kafka/reassign/test_reassign_partitions.py",
    "tools.kafka.reassign.reassignment_file": "tools/kafka/reassign/test_reassign_partitions.py",
    "tools.kafka.reassign.reassignment_plan": "tools/kafka/reassign/test_reassign_partitions.py",
    "tools.kafka.reassign.reassignment_replicas": "tools/kafka/reassign/test_reassign_partitions.py",
    "tools.kafka.reassign.reassignment_states": "interop/test_reassign_tool.py",
    "tools.kafka.reassign.reassignment_throttles": "tools/kafka/reassign/test_reassign_partitions.py",
    "tools.kafka.running": "tools/kafka/test_stock_answers.py",
    "tools.kafka.token_calls": "tools/kafka/test_delegation_tokens.py",
    "tools.kafka.topics.topic_arguments": "tools/kafka/topics/test_topics.py",
    "tools.kafka.topics.topic_calls": "tools/kafka/topics/test_topics.py",
    "tools.kafka.topics.topic_describe": "tools/kafka/topics/test_topics.py",
    "tools.kafka.topics.topic_image": "tools/kafka/topics/test_topics.py",
    "tools.kafka.configs.config_alter": "tools/kafka/configs/test_configs.py",
    "tools.kafka.configs.config_change_calls": "tools/kafka/configs/test_configs.py",
    "tools.kafka.configs.config_describe": "tools/kafka/configs/test_configs.py",
    "tools.kafka.configs.config_list_calls": "tools/kafka/configs/test_configs.py",
    "tools.kafka.configs.config_quota_calls": "tools/kafka/configs/test_configs.py",
    "tools.kafka.configs.config_calls": "tools/kafka/topics/test_topics.py",
    "tools.kafka.version_calls": "tools/kafka/test_tools.py",
    "tools.command_line.argument_reader": "tools/command_line/test_arguments.py",
    "tools.command_line.bootstrap_options": "tools/kafka/test_stock_answers.py",
    "tools.command_line.java_texts": "tools/kafka/dump_log/test_dump_log.py",
    "tools.command_line.option_tools": "tools/kafka/test_stock_answers.py",
    "tools.client.connection": "controller/node/test_logs.py",
    "tools.kafka.dump_log.dump_batches": "tools/kafka/dump_log/test_dump_log.py",
    "tools.kafka.dump_log.dump_findings": "tools/kafka/dump_log/test_dump_log.py",
    "tools.kafka.dump_log.dump_indexes": "tools/kafka/dump_log/test_dump_log.py",
    "tools.kafka.dump_log.dump_lines": "tools/kafka/dump_log/test_dump_log.py",
    "tools.kafka.feature_tables": "tools/kafka/test_stock_answers.py",
    "tools.kafka.dump_log.payloads": "tools/kafka/dump_log/test_dump_log.py",
    "tools.rng": "tools/kafka/test_storage.py",
    "tools.kafka.shell.commands": "tools/kafka/shell/test_metadata_shell.py",
    "tools.kafka.shell.nodes": "tools/kafka/shell/test_metadata_shell.py",
    "tools.kafka.shell.prompt": "tools/kafka/shell/test_session.py",
    "tools.kafka.storage_format": "tools/kafka/test_storage.py",
    "tools.kafka.storage_info": "tools/kafka/test_storage.py",
}


def modules() -> dict[str, Path]:
    """Each module's name, and the path of its mirror."""
    found = {}
    for package in ("raft", "controller", "tools"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name != "__init__.py":
                inside = path.relative_to(ROOT)
                name = ".".join(inside.with_suffix("").parts)
                found[name] = ROOT / "tests" / inside.with_name(f"test_{inside.name}")
    return found


def test_every_module_has_a_mirror_or_a_reason() -> None:
    without = {name for name, mirror in modules().items() if not mirror.exists()}

    assert without - NO_RULES - TESTED_BY.keys() == set()


def test_no_row_is_stale() -> None:
    """A row is stale when its module is gone or has a mirror by now, or when the test it names is gone."""
    found = modules()
    rows = NO_RULES | TESTED_BY.keys()

    assert {name for name in rows if name not in found or found[name].exists()} == set()
    assert {test for test in TESTED_BY.values() if not (ROOT / "tests" / test).is_file()} == set()
    assert NO_RULES & TESTED_BY.keys() == set()
