"""Each module of `raft` and `controller` has its test at the same path under `tests/`, or a row here with a reason."""

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
    "controller.config.resource_types": "controller/config/test_resources.py",
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
    "controller.node.replies": "controller/node/test_node.py",
    "controller.core.snapshots": "controller/core/test_controller.py",
    "controller.core.standby": "controller/core/test_controller.py",
    "controller.core.steps": "controller/core/test_controller.py",
    "controller.ctl.bench_figures": "controller/ctl/test_bench.py",
    "controller.ctl.bench_measures": "controller/ctl/test_bench.py",
    "controller.ctl.bench_scratch": "controller/ctl/test_bench.py",
    "controller.ctl.changes": "controller/ctl/test_history.py",
    "controller.ctl.doctor_directories": "controller/ctl/test_doctor.py",
    "controller.ctl.doctor_network": "controller/ctl/test_doctor.py",
    "controller.ctl.findings": "controller/ctl/test_doctor.py",
    "controller.ctl.diff": "controller/ctl/test_history.py",
    "controller.ctl.entries": "controller/ctl/test_history.py",
    "controller.ctl.filters": "controller/ctl/test_history.py",
    "controller.ctl.noting_image": "controller/ctl/test_history.py",
    "controller.ctl.past_quorum": "controller/ctl/test_watch.py",
    "controller.ctl.places": "controller/ctl/test_at.py",
    "controller.ctl.recovery_steps": "controller/ctl/test_recover.py",
    "controller.ctl.points": "controller/ctl/test_at.py",
    "controller.ctl.running": "controller/ctl/test_watch.py",
    "controller.ctl.watch_service": "controller/ctl/test_watch.py",
    "controller.ctl.live_copy": "interop/test_backup.py",
    "controller.ctl.bound_process": "controller/ctl/test_up.py",
    "controller.ctl.local_processes": "controller/ctl/test_up.py",
    "controller.ctl.local_quorum": "controller/ctl/test_up.py",
    "controller.ctl.main": "controller/ctl/test_status.py",
    "controller.ctl.node_status": "controller/ctl/test_status.py",
    "controller.ctl.node_views": "controller/ctl/test_up.py",
    "controller.ctl.probe": "controller/ctl/test_container.py",
    "controller.ctl.quorum": "controller/ctl/test_wait.py",
    "controller.ctl.start": "controller/server/test_start.py",
    "controller.ctl.stock_brokers": "interop/test_up.py",
    "controller.ctl.terminal": "controller/ctl/test_log.py",
    "controller.ctl.up_screen": "controller/ctl/test_up.py",
    "controller.features.record_versions": "controller/state/test_records_of.py",
    "controller.handlers.assignments": "controller/handlers/test_topics.py",
    "controller.handlers.config_changes": "controller/handlers/test_configs.py",
    "controller.handlers.logger_levels": "controller/handlers/test_configs.py",
    "controller.handlers.partitions": "controller/handlers/test_isr.py",
    "controller.handlers.registrations": "controller/handlers/test_brokers.py",
    "controller.handlers.topic_configs": "controller/config/test_effective.py",
    "controller.ctl.command_trees": "controller/ctl/test_completion.py",
    "controller.interface.access": "controller/node/test_admission.py",
    "controller.interface.refusals": "controller/core/test_apis.py",
    "controller.interface.results": "controller/handlers/test_configs.py",
    "controller.node.loopback_requests": "controller/server/test_start.py",
    "controller.node.timers": "controller/server/test_start.py",
    "controller.offline.directory_files": "controller/offline/test_formatting.py",
    "controller.offline.java_forms": "controller/tools/test_dump_log.py",
    "controller.offline.load": "controller/offline/test_image.py",
    "controller.offline.marked_directories": "controller/offline/test_formatting.py",
    "controller.offline.metadata_values": "controller/offline/test_image.py",
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
    "controller.tools.admin.acl_arguments": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.acl_calls": "controller/tools/admin/test_acls.py",
    "controller.offline.acl_names": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.acl_options": "controller/tools/admin/test_acls.py",
    "controller.tools.admin.broker_api_versions": "controller/tools/admin/test_tools.py",
    "controller.tools.admin.cluster": "controller/tools/admin/test_tools.py",
    "controller.tools.admin.cluster_calls": "controller/tools/admin/test_tools.py",
    "controller.tools.admin.election_calls": "controller/tools/admin/test_tools.py",
    "controller.tools.admin.election_file": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.exceptions": "controller/tools/admin/test_client.py",
    "controller.tools.admin.feature_calls": "controller/tools/admin/test_tools.py",
    "controller.tools.admin.features": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.leader_election": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.metadata_quorum": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.new_voter": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.quorum_calls": "controller/tools/admin/test_tools.py",
    "controller.tools.admin.reassignment_calls": "controller/tools/admin/test_reassign_partitions.py",
    "controller.tools.admin.reassignment_execution": "controller/tools/admin/test_reassign_partitions.py",
    "controller.tools.admin.reassignment_file": "controller/tools/admin/test_reassign_partitions.py",
    "controller.tools.admin.reassignment_plan": "controller/tools/admin/test_reassign_partitions.py",
    "controller.tools.admin.reassignment_replicas": "controller/tools/admin/test_reassign_partitions.py",
    "controller.tools.admin.reassignment_states": "interop/test_reassign_tool.py",
    "controller.tools.admin.reassignment_throttles": "controller/tools/admin/test_reassign_partitions.py",
    "controller.tools.admin.running": "controller/tools/test_stock_answers.py",
    "controller.tools.admin.token_calls": "controller/tools/admin/test_delegation_tokens.py",
    "controller.tools.admin.topic_arguments": "controller/tools/admin/test_topics.py",
    "controller.tools.admin.topic_calls": "controller/tools/admin/test_topics.py",
    "controller.tools.admin.topic_describe": "controller/tools/admin/test_topics.py",
    "controller.tools.admin.topic_image": "controller/tools/admin/test_topics.py",
    "controller.tools.admin.config_alter": "controller/tools/admin/test_configs.py",
    "controller.tools.admin.config_change_calls": "controller/tools/admin/test_configs.py",
    "controller.tools.admin.config_describe": "controller/tools/admin/test_configs.py",
    "controller.tools.admin.config_list_calls": "controller/tools/admin/test_configs.py",
    "controller.tools.admin.config_quota_calls": "controller/tools/admin/test_configs.py",
    "controller.tools.admin.config_calls": "controller/tools/admin/test_topics.py",
    "controller.tools.admin.version_calls": "controller/tools/admin/test_tools.py",
    "controller.tools.command_line.argument_reader": "controller/tools/command_line/test_arguments.py",
    "controller.tools.command_line.bootstrap_options": "controller/tools/test_stock_answers.py",
    "controller.tools.command_line.java_texts": "controller/tools/test_dump_log.py",
    "controller.tools.command_line.option_tools": "controller/tools/test_stock_answers.py",
    "controller.tools.connection": "controller/node/test_logs.py",
    "controller.tools.dump_batches": "controller/tools/test_dump_log.py",
    "controller.tools.dump_findings": "controller/tools/test_dump_log.py",
    "controller.tools.dump_indexes": "controller/tools/test_dump_log.py",
    "controller.tools.dump_lines": "controller/tools/test_dump_log.py",
    "controller.tools.feature_tables": "controller/tools/test_stock_answers.py",
    "controller.tools.payloads": "controller/tools/test_dump_log.py",
    "controller.tools.rng": "controller/tools/test_storage.py",
    "controller.tools.shell.commands": "controller/tools/test_metadata_shell.py",
    "controller.tools.shell.nodes": "controller/tools/test_metadata_shell.py",
    "controller.tools.shell.prompt": "controller/tools/shell/test_session.py",
    "controller.tools.storage_format": "controller/tools/test_storage.py",
    "controller.tools.storage_info": "controller/tools/test_storage.py",
}


def modules() -> dict[str, Path]:
    """Each module's name, and the path of its mirror."""
    found = {}
    for package in ("raft", "controller"):
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
