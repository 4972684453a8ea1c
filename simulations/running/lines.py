"""Which lines of production code run in simulation.

It counts the modules that a node runs between its sockets, its clocks and its disk. LEFT_OUT names the others, each
with a reason. Otherwise it is standard line coverage: a statement counts as run once it has begun; code for the type
checker does not count.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simulations.mutants.module_names import imported_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What of `records` a node runs: codec, frames, batches, levels of features.
RECORDS = (
    "batch", "codec", "control", "control_batch", "crc", "data", "errors", "features.levels",
    "features.record_versions", "frame", "generation.decoding", "generation.encoding", "headers", "registry", "schema",
    "uuids", "wire",
)  # fmt: skip
PACKAGES = ("raft", "controller")

LEFT_OUT = {
    "raft.network.acceptor": "the listening sockets under uvloop: the adapter itself",
    "controller.core.metrics": "numbers for the HTTP port",
    "controller.interface.loggers": "the process's own log",
    "controller.config": "properties files and command lines, read before a node is; keys are rows",
    "controller.server.start": "signals, the process's sockets, files and threads: the adapter itself",
    "controller.server.door": "what comes in before the node is: the adapter itself",
    "controller.server.self_checks": "the host's clock, file system and certificates",
    "controller.server.service_manager": "the socket of systemd",
    "controller.node.audit.audit_log": "the audit log, which answers no request",
    "controller.node.audit.audit_file": "the audit log's file and thread: the adapter itself",
    "controller.node.audit.audit_resources": "the audit log, which answers no request",
    "controller.node.file_descriptors": "limits of the operating system",
    "controller.node.logging.logs": "the process's own log",
    "controller.node.logging.log_events": "the process's own log",
    "controller.node.logging.problems": "the process's own log",
    "controller.node.plugins": "classes of an operator's own",
    "controller.rules.mutation_quotas": "no simulated client has a quota",
    "controller.security": "reads files of certificates: the adapter itself",
    "raft.security": "reads files of certificates: the adapter itself",
    "raft.network.mechanisms": "draws nonces: the adapter itself; only PLAIN is simulated",
    "controller.server.http": "the HTTP port",
    "controller.server.grpc": "the watch service",
    "raft.storage.files": "the operating system's files: the adapter itself",
    "raft.storage.flusher": "a thread: the adapter itself",
    "controller.node.long_thread": "a thread: the adapter itself",
    "raft.storage.bootstrap": "what the formatter wrote, read before a node is",
    "raft.storage.meta_properties": "whose a directory is, read before a node is",
    "raft.storage.directory_lock": "against a second process on a directory, taken before a node is",
}
# What of `controller.config` answers requests.
COUNTED = (
    "resources", "dynamic", "effective", "topic_values", "served", "values.definition", "values.group_values",
    "values.valid",
)  # fmt: skip
NOT_RUN = r"if TYPE_CHECKING:|class \w+\(Protocol\):|\.\.\.$"


class Reached(NamedTuple):
    """A module, the number of its statements, and the lines of those that never ran."""

    module: str
    statements: int
    missed: list[int]


def production() -> dict[str, str]:
    """Name -> file, of each module that counts."""
    files = {f"records.{name}": _file(f"records.{name}") for name in RECORDS}
    for package in PACKAGES:
        spec = importlib.util.find_spec(imported_name(package))
        assert spec is not None, package
        assert spec.origin is not None, package
        root = Path(spec.origin).parent
        for path in sorted(root.rglob("*.py")):
            parts = (package, *path.relative_to(root).with_suffix("").parts)
            name = ".".join(parts)
            if parts[-1] != "__init__" and is_counted(name):
                files[name] = str(path)
    return files


def is_counted(name: str) -> bool:
    """Whether the lines of a module count."""
    if name.startswith("controller.config."):
        return name.removeprefix("controller.config.") in COUNTED
    return not any(name == each or name.startswith(f"{each}.") for each in LEFT_OUT)


def _file(name: str) -> str:
    """The file of a module, without importing it: the import must happen while lines are recorded."""
    spec = importlib.util.find_spec(imported_name(name))
    assert spec is not None, name
    return str(spec.origin)


def run_lines(level: str, seeds: Iterable[int]) -> dict[str, list[int]]:
    """Run some seeds, in a process of its own. Returns file -> lines that ran."""
    from coverage import Coverage

    watched = Coverage(data_file=None, concurrency="greenlet", include=list(production().values()), config_file=False)
    watched.start()
    try:
        from simulations.levels.table import load

        world = load(level)
        for seed in seeds:
            world.play(world.draw(seed))
    finally:
        watched.stop()
    data = watched.get_data()
    return {path: sorted(data.lines(path) or ()) for path in sorted(data.measured_files())}


def reached_lines(ran: Mapping[str, set[int]]) -> list[Reached]:
    """The result, by module. ran: file -> lines that ran."""
    from coverage.parser import PythonParser

    modules = []
    for module, path in production().items():
        parser = PythonParser(filename=path, exclude=NOT_RUN)
        parser.parse_source()
        statements = parser.statements
        missed = statements - parser.first_lines(ran.get(path, set()))
        modules.append(Reached(module, len(statements), sorted(missed)))
    return modules
