"""Tools start fast: a call imports only the modules that it uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.kafka.cases import GOLDEN

ROOT = GOLDEN.parents[2]
LIFE = GOLDEN / "4.3-static"
CHECKPOINT = LIFE / "node-1/__cluster_metadata-0/00000000000000000262-0000000001.checkpoint"

# Each takes milliseconds to import, or imports a module that does.
HEAVY = {
    "argparse", "asyncio", "concurrent", "crc32c", "dataclasses", "datetime", "email", "grpc", "hashlib",
    "importlib.metadata", "inspect", "json", "logging", "msgpack", "numpy", "pathlib", "prompt_toolkit", "random",
    "rich", "socket", "structlog", "subprocess", "tempfile", "threading", "uuid", "uvloop",
}  # fmt: skip


# A tool that asks a cluster has a socket, and what Python's module of sockets imports; still nothing of TLS and SASL.
NETWORK = {"socket"}
SECURITY = {"ssl", "raft.network.tls", "raft.network.mechanisms", "tools.client.client_security"}
ASKING = {
    "acls.acls", "broker_api_versions", "cluster", "configs.configs", "delegation_tokens",
    "features", "leader_election", "metadata_quorum", "reassign.reassign_partitions", "topics.topics",
}  # fmt: skip
AT = ["--bootstrap-controller", "127.0.0.1:1", "--command-config", "FAST"]


def call(tool: str, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a tool as its script does, and write the modules it loaded to file descriptor 2 at the end."""
    code = (
        f"import atexit, sys; atexit.register(lambda: sys.stderr.write('LOADED ' + ' '.join(sys.modules))); "
        f"from tools.kafka.{tool} import main; sys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {[str(ROOT), *sys.path]!r}; {code}", *args],
        input=stdin, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip


def loaded(tool: str, *args: str) -> set[str]:
    done = call(tool, *args)
    assert "LOADED" in done.stderr, done.stderr
    return set(done.stderr.partition("LOADED ")[2].split())


@pytest.fixture(scope="module")
def properties(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("node") / "node.properties"
    (file.parent / "fast").write_text("default.api.timeout.ms=50\nrequest.timeout.ms=50\n")
    file.write_text((LIFE / "node-1.properties").read_text().replace("DIR", str(LIFE)))
    return str(file)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("storage", ["random-uuid"]),
        ("storage", ["--help"]),
        ("storage", ["version-mapping"]),
        ("storage", ["info", "-c", "PROPERTIES"]),
        ("storage", ["format", "-g", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", "PROPERTIES"]),
        ("dump_log.dump_log", ["--cluster-metadata-decoder", "--files", str(CHECKPOINT)]),
        ("dump_log.dump_log", ["--help"]),
        ("shell.metadata_shell", ["-s", str(CHECKPOINT), "ls", "/image"]),
        ("shell.metadata_shell", ["--help"]),
        ("metadata_quorum", [*AT, "describe", "--status"]),
        ("metadata_quorum", ["--help"]),
        ("features", [*AT, "describe"]),
        ("features", [*AT, "upgrade", "--release-version", "4.3"]),
        ("features", ["version-mapping"]),
        ("cluster", ["list-endpoints", *AT]),
        ("leader_election", [*AT, "--election-type", "preferred", "--all-topic-partitions"]),
        ("leader_election", ["--help"]),
        ("acls.acls", [*AT, "--list"]),
        ("acls.acls", [*AT, "--add", "--topic", "t", "--allow-principal", "User:a"]),
        ("acls.acls", ["--help"]),
        ("delegation_tokens", [*AT, "--describe"]),
        ("reassign.reassign_partitions", [*AT, "--list"]),
        ("reassign.reassign_partitions", ["--help"]),
        ("broker_api_versions", AT),
        ("configs.configs", ["--help"]),
        ("configs.configs", [*AT, "--describe", "--broker", "1", "--all"]),
        ("configs.configs", [*AT, "--alter", "--broker-defaults", "--add-config", "log.retention.ms=5"]),
        ("configs.configs", ["--bootstrap-server", *AT[1:], "--describe", "--user", "u"]),
        (
            "configs.configs",
            ["--bootstrap-server", *AT[1:], "--alter", "--user", "u", "--delete-config", "request_percentage"],
        ),
        ("topics.topics", ["--help"]),
        ("topics.topics", [*AT, "--list", "--topic", "t.*"]),
        ("topics.topics", [*AT, "--create", "--topic", "t", "--config", "retention.ms=5"]),
        ("topics.topics", [*AT, "--alter", "--topic", "t", "--partitions", "5"]),
        ("topics.topics", [*AT, "--delete", "--topic", "t"]),
        ("topics.topics", ["--bootstrap-server", *AT[1:], "--describe", "--topic", "t"]),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else value,
)
def test_a_call_loads_nothing_heavy(tool: str, args: list[str], properties: str) -> None:
    files = {"PROPERTIES": properties, "FAST": str(Path(properties).with_name("fast"))}
    modules = loaded(tool, *[files.get(arg, arg) for arg in args])

    heavy = HEAVY | SECURITY
    allowed = NETWORK if tool in ASKING else set()
    assert {name for name in modules if name in heavy or name.split(".")[0] in heavy} - allowed == set()


def test_the_interactive_shell_on_a_pipe_loads_no_line_editor() -> None:
    done = call("shell.metadata_shell", "-s", str(CHECKPOINT), stdin="pwd\n")

    assert done.stdout.endswith(">> /\n>> ")
    assert "prompt_toolkit" not in done.stderr


def test_a_closed_pipe_ends_a_tool_without_a_traceback() -> None:
    log = LIFE / "node-1/__cluster_metadata-0/00000000000000000000.log"
    code = "import sys; from tools.kafka.dump_log.dump_log import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "--cluster-metadata-decoder", "--files", str(log)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        complaints = process.stderr.read()

    assert first == f"Dumping {log}\n".encode()
    assert (complaints, process.returncode) == (b"", 0)


def test_names_of_files_are_printed_unchanged_in_any_locale(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe.log"
    script = "from tools.kafka.dump_log.dump_log import main; main()"
    command = [sys.executable, "-c", script, "--files", os.fsdecode(name)]

    done = subprocess.run(command, capture_output=True, check=False, cwd=ROOT, env={**os.environ, "LC_ALL": "C"})

    assert done.stdout == b"Dumping " + name + b"\n"


SCRIPT = "import sys; from tools.kafka.storage import main; sys.exit(main())"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_an_output_that_cannot_be_written_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, "--help"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT,
        )  # fmt: skip

    assert (done.returncode, done.stderr) == (1, "The output cannot be written: No space left on device\n")


def test_a_tool_with_closed_output_runs_to_its_end() -> None:
    command = f"{sys.executable} -c '{SCRIPT}' random-uuid >&-"

    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)

    assert (done.returncode, done.stderr) == (0, "")
