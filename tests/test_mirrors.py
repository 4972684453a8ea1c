"""Each module of `raft`, `controller` and `tools` has its test in `tests/`.

It stands at the same path, or, for a module that one other module alone imports, where that one's stands. A module
without a function has nothing to test. For all others there is a row.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.test_tidy import all_imports
from tests.test_tidy import modules as all_modules

ROOT = Path(__file__).parents[1]

# Values whose methods are of one line, or declarations: tests/test_tidy.py and mypy check their form.
NO_RULES = {
    "controller.interface.inputs", "raft.state.follower_state",
    "raft.state.voter_change", "raft.storage.errors",
}  # fmt: skip

# Folders of one subject, such as a tool: one test drives their modules, and has the folder's name.
ONE_SUBJECT = {
    "tools/kafka/acls", "tools/kafka/configs", "tools/kafka/dump_log",
    "tools/kafka/reassign", "tools/kafka/topics", "tools/kraftctl/bench", "tools/kraftctl/debug",
    "tools/kraftctl/doctor", "tools/kraftctl/history", "tools/kraftctl/points",
}  # fmt: skip

# Module -> the test that drives it through another module.
TESTED_BY = {
    "raft.network.channels": "raft/network/test_channel.py",
    "raft.storage.opening": "raft/storage/test_recovery.py",
    "raft.storage.segment": "raft/storage/test_recovery.py",
    "raft.storage.snapshots": "raft/storage/test_storage.py",
    "raft.storage.walk": "raft/storage/test_recovery.py",
    "controller.config.authorizer": "controller/node/test_authorizers.py",
    "controller.config.group_checks": "controller/config/test_node.py",
    "controller.config.values.node_values": "controller/config/test_node.py",
    "controller.config.plugins": "controller/node/test_plugins.py",
    "controller.config.topic_values": "controller/config/test_resources.py",
    "controller.config.values.group_values": "controller/config/test_resources.py",
    "controller.config.security.listener_values": "controller/config/security/test_security_checks.py",
    "controller.state.partitions.reads": "controller/interface/test_slices.py",
    "tools.kafka.version_calls": "tools/kafka/test_broker_api_versions.py",
    "raft.autopilot.report": "raft/autopilot/test_autopilot.py",
    "controller.core.active": "controller/core/test_controller.py",
    "controller.core.periodic_work": "controller/core/test_controller.py",
    "controller.core.serving": "controller/core/test_controller.py",
    "controller.node.making": "controller/server/test_door.py",
    "controller.node.replies": "controller/node/test_node.py",
    "controller.core.snapshots": "controller/core/test_controller.py",
    "controller.core.steps": "controller/core/test_controller.py",
    "tools.kraftctl.cluster.replica_logs": "tools/kraftctl/cluster/test_quorum_hash.py",
    "tools.kraftctl.findings": "tools/kraftctl/doctor/test_doctor.py",
    "tools.kraftctl.recovery_steps": "tools/kraftctl/repair/test_recover.py",
    "tools.kraftctl.running": "tools/kraftctl/history/test_watch.py",
    "tools.kraftctl.run.local_quorum": "tools/kraftctl/run/test_up.py",
    "tools.kraftctl.main": "tools/kraftctl/cluster/test_status.py",
    "tools.kraftctl.nodes.node_status": "tools/kraftctl/cluster/test_status.py",
    "tools.kraftctl.nodes.node_views": "tools/kraftctl/run/test_up.py",
    "tools.kraftctl.run.probe": "tools/kraftctl/run/test_container.py",
    "tools.client.quorum_options": "tools/kraftctl/test_command_config.py",
    "tools.kraftctl.run.stock_brokers": "interop/test_up.py",
    "tools.kraftctl.terminal": "tools/kraftctl/repair/test_log.py",
    "controller.handlers.config_changes": "controller/handlers/test_configs.py",
    "controller.handlers.registrations": "controller/handlers/test_brokers.py",
    "tools.kraftctl.command_trees": "tools/kraftctl/test_completion.py",
    "controller.interface.access": "controller/node/test_admission.py",
    "controller.interface.refusals": "controller/core/test_apis.py",
    "controller.interface.results": "controller/handlers/test_configs.py",
    "tools.offline.marked_directories": "tools/offline/test_formatting.py",
    "tools.offline.metadata_values": "tools/offline/test_image.py",
    "controller.rules.partition_elections": "controller/handlers/test_elections.py",
    "controller.rules.permissions": "controller/core/test_authorization.py",
    "controller.server.grpc.port": "controller/server/grpc/test_watch.py",
    "controller.server.grpc.time_slices": "controller/server/grpc/test_changes.py",
    "controller.server.http.answers": "controller/server/http/test_connection.py",
    "controller.server.http.metrics": "controller/server/http/test_start.py",
    "controller.server.http.page": "controller/server/http/test_start.py",
    "controller.server.http.reading": "controller/server/http/test_connection.py",
    "raft.network.link": "raft/network/test_channel.py",
    "controller.state.partitions.bulk_placing": "controller/state/test_snapshots.py",
    "controller.state.partitions.first_partitions": "controller/core/test_partition_columns.py",
    "controller.state.partitions.bulk_uncommon_fields": "controller/state/test_snapshots.py",
    "tools.kafka.cluster_calls": "tools/kafka/test_cluster.py",
    "tools.client.exceptions": "tools/client/test_admin.py",
    "tools.kafka.new_voter": "tools/kafka/test_stock_answers.py",
    "tools.kafka.running": "tools/kafka/test_stock_answers.py",
    "tools.command_line.bootstrap_options": "tools/kafka/test_stock_answers.py",
    "tools.command_line.java_texts": "tools/kafka/dump_log/test_dump_log.py",
    "tools.command_line.option_tools": "tools/kafka/test_stock_answers.py",
    "tools.client.connection": "controller/node/logging/test_logs.py",
    "tools.kafka.feature_tables": "tools/kafka/test_stock_answers.py",
    "tools.kafka.shell.commands": "tools/kafka/shell/test_metadata_shell.py",
    "tools.kafka.shell.nodes": "tools/kafka/shell/test_metadata_shell.py",
    "tools.kafka.storage_format": "tools/kafka/test_storage.py",
}


@cache
def modules() -> dict[str, Path]:
    """Each module's name, and its file."""
    packages = ("raft.", "controller.", "tools.")
    return {
        name: path for name, path in all_modules().items() if name.startswith(packages) and path.name != "__init__.py"
    }


@cache
def importers() -> dict[str, set[str]]:
    """Module -> the modules that import it."""
    users: dict[str, set[str]] = {name: set() for name in modules()}
    for name, path in all_modules().items():
        for each in all_imports(path):
            users.get(each.target, set()).add(name)
    return users


def find_test(name: str) -> Path | None:
    """The test that drives a module, where it needs no row."""
    inside = modules()[name].relative_to(ROOT)
    mirror = ROOT / "tests" / inside.with_name(f"test_{inside.name}")
    if mirror.exists():
        return mirror
    if str(inside.parent) in ONE_SUBJECT:
        return mirror.with_name(f"test_{inside.parent.name}.py")
    users = importers()[name]
    return find_test(*users) if len(users) == 1 and users <= modules().keys() else None


def has_functions(path: Path) -> bool:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return any(isinstance(node, functions) for node in ast.walk(ast.parse(path.read_text())))


def without_test() -> set[str]:
    return {name for name, path in modules().items() if find_test(name) is None and has_functions(path)}


def test_every_module_has_a_test_or_a_reason() -> None:
    assert without_test() - NO_RULES - TESTED_BY.keys() == set()


def test_no_row_is_stale() -> None:
    """A row is stale when its module is gone or has a test without it, or when the test it names is gone."""
    assert (NO_RULES | TESTED_BY.keys()) - without_test() == set()
    assert {test for test in TESTED_BY.values() if not (ROOT / "tests" / test).is_file()} == set()
    assert [
        each for each in ONE_SUBJECT if not (ROOT / "tests" / each / f"test_{each.split('/')[-1]}.py").is_file()
    ] == []
    assert NO_RULES & TESTED_BY.keys() == set()
