"""kafka-metadata-shell as a whole: its output and its exit code."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import shutil
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from tests.tools.kafka.cases import GOLDEN, STOCK, cases, ours
from tools.kafka.shell.commands import Shell
from tools.kafka.shell.nodes import root
from tools.kafka.shell.paths import MissingChild
from tools.offline.load import load_image

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tools.kafka.cases import Case

CHECKPOINT = GOLDEN / "4.3-static/node-1/__cluster_metadata-0/00000000000000000712-0000000002.checkpoint"


def said(shell: Shell, written: list[str], command: list[str]) -> str:
    written.clear()
    try:
        shell.run(command)
    except MissingChild as error:
        return "".join(written) + f"failed: {error}"
    return "".join(written)


@pytest.mark.parametrize("case", cases("shell"), ids=lambda case: f"{case['file'][-30:]}-{case['interactive']}")
def test_commands_print_what_stock_prints_from_the_loaded_image(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    # The texts were recorded from 4.3.1: its `local/version` names itself.
    monkeypatch.setattr("records.release.KAFKA_VERSION", "4.3.1")
    monkeypatch.setattr("records.release.KAFKA_COMMIT_ID", "26b251a451ce941d")
    image = load_image(case["file"].replace("GOLDEN", str(GOLDEN)).replace("STOCK", str(STOCK)))
    written: list[str] = []
    shell = Shell(root(image), written.append, history=[] if case["interactive"] else None)

    found = []
    for command in case["commands"]:
        stdout = io.StringIO()  # `--help` goes there
        monkeypatch.setattr(sys, "stdout", stdout)
        text = said(shell, written, command)
        found.append(stdout.getvalue() + text)

    history = ["history"] in case["commands"]
    expected = [
        "" if output == "failed: The history command requires a shell." else output for output in case["outputs"]
    ]
    assert found == expected
    assert history == case["interactive"]


def recorded_run(path: Path) -> tuple[list[str], str]:
    """The arguments of a golden run and what it printed, without the lines of its log."""
    command, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    printed = "".join(line for line in lines if "ERROR Ignoring control record" not in line)
    return command.replace("DIR", str(path.parents[1])).split()[2:], printed


@pytest.mark.parametrize("name", ["shell-ls", "shell-cat"])
@pytest.mark.parametrize("life", ["4.0-static", "4.3-static"])
def test_golden_runs_are_reproduced(life: str, name: str) -> None:
    args, printed = recorded_run(GOLDEN / life / f"outputs/{name}.txt")

    found = ours("metadata-shell", args)

    assert found["stdout"] + f"exit {found['exit']}\n" == printed


def test_the_golden_help_is_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    args, printed = recorded_run(GOLDEN / "4.3-dynamic/outputs/shell-help.txt")

    found = ours("metadata-shell", args)

    assert found["stdout"] + f"exit {found['exit']}\n" == printed


def test_lines_piped_into_the_shell_are_answered_as_stock_answers_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO((STOCK / "session.txt").read_text()))

    found = ours("metadata-shell", ["-s", str(CHECKPOINT)])

    assert found == {"stdout": (STOCK / "session-output.txt").read_text(), "stderr": "", "exit": 0}


def test_the_end_of_the_input_ends_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("pwd"))

    found = ours("metadata-shell", ["-s", str(CHECKPOINT)])

    assert found["stdout"] == "Loading...\nStarting...\n[ Kafka Metadata Shell ]\n>> /\n>> "


def test_a_failed_command_leaves_the_exit_code_0() -> None:
    found = [ours("metadata-shell", ["-s", str(CHECKPOINT), *command]) for command in (["cat", "/x"], ["nope"])]

    assert found == [
        {"stdout": "cat: /x: No such file or directory.\n", "stderr": "", "exit": 0},
        {
            "stdout": "invalid choice: 'nope' (choose from 'cat', 'find', 'ls', 'tree')\n",
            "stderr": "",
            "exit": 0,
        },
    ]


def test_a_default_client_quota_ends_find_as_in_stock() -> None:
    found = ours("metadata-shell", ["-s", str(STOCK / "everything.log"), "find", "/image/clientQuotas"])

    message = "Expected  to be a valid child of /image/clientQuotas, but it was not."
    assert found["exit"] == 1
    assert found["stdout"] == "/image/clientQuotas\n"
    assert found["stderr"].endswith(f"Unexpected error: {message}\njava.lang.RuntimeException: {message}\n")


def test_a_record_that_cannot_be_applied_is_reported_and_the_rest_is_shown() -> None:
    found = ours("metadata-shell", ["-s", str(STOCK / "everything.log"), "cat", "/image/producerIds/nextProducerId"])

    assert found == {
        "stdout": "1000\n",
        "stderr": "WARN offset 11: BrokerRegistrationChangeRecord cannot be taken in: broker 2 is registered with "
        "epoch 102, not 999\n"
        "WARN offset 13: UnregisterBrokerRecord cannot be taken in: broker 77 is not registered\n",
        "exit": 0,
    }


def test_a_missing_file_is_reported_as_by_stock(tmp_path: Path) -> None:
    missing = tmp_path / "none.checkpoint"

    found = ours("metadata-shell", ["-s", str(missing), "ls"])

    cause = f"java.nio.file.NoSuchFileException: {missing}"
    assert found == {
        "stdout": "",
        "stderr": f"Unexpected error: {cause}\njava.util.concurrent.ExecutionException: {cause}\nCaused by: {cause}\n",
        "exit": 1,
    }


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bytes(100), "Found record size 0 smaller than minimum record overhead (14) in file FILE."),
        (b"\0" * 8 + (200).to_bytes(4, "big") + b"\0\0\0\0\2" + bytes(195), "Found invalid record structure"),
    ],
)
def test_a_damaged_file_ends_the_shell_with_an_error(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "damaged.checkpoint"
    header = bytearray(data)
    if len(header) > 100:
        header[57:61] = (1).to_bytes(4, "big")  # one record, whose bytes are none
        header[61] = 40
        header[62:82] = b"\xff" * 20
    file.write_bytes(bytes(header))

    found = ours("metadata-shell", ["-s", str(file), "ls"])

    assert found["exit"] == 1
    assert found["stderr"].splitlines()[0].endswith(message.replace("FILE", str(file)))


def test_an_incomplete_last_batch_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "torn.checkpoint"
    file.write_bytes(CHECKPOINT.read_bytes()[:-20])

    whole = ours("metadata-shell", ["-s", str(CHECKPOINT), "tree", "/"])
    torn = ours("metadata-shell", ["-s", str(file), "tree", "/"])

    assert torn == whole


def test_an_empty_file_has_an_empty_tree(tmp_path: Path) -> None:
    file = tmp_path / "empty.checkpoint"
    file.touch()

    found = ours("metadata-shell", ["-s", str(file), "cat", "/image/provenance", "/image/features/metadataVersion"])

    assert found == {
        "stdout": "offset -1, epoch -1, time 1969-12-31T23:59:59.999Z[UTC]\nOptional.empty\n",
        "stderr": "",
        "exit": 0,
    }


def test_the_file_of_a_running_node_is_not_read(tmp_path: Path) -> None:
    partition = tmp_path / "__cluster_metadata-0"
    partition.mkdir()
    file = partition / CHECKPOINT.name
    shutil.copy(CHECKPOINT, file)
    script = (
        "import sys; from tools.kafka.shell.metadata_shell import run; "
        "sys.exit(run(['-s', sys.argv[1], 'cat', '/image/producerIds/nextProducerId']))"
    )

    unlocked = _in_another_process(script, file)
    with (tmp_path / ".lock").open("w") as lock:
        free = _in_another_process(script, file)
        fcntl.lockf(lock, fcntl.LOCK_EX)
        held = _in_another_process(script, file)

    assert unlocked == free == (0, "1000\n", "")
    message = (
        f"Unable to lock {tmp_path}. Please ensure that no broker or controller process is using this directory before "
        "proceeding."
    )
    assert held == (1, "", f"Unexpected error: {message}\njava.lang.RuntimeException: {message}\n")


def _in_another_process(script: str, file: Path) -> tuple[int, str, str]:
    """Run in another process, since POSIX locks do not exclude their own process."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=False, cwd=GOLDEN.parents[2]
    )
    return done.returncode, done.stdout, done.stderr


def test_on_a_terminal_tab_completes_and_ctrl_d_exits() -> None:
    code = "import sys; from tools.kafka.shell.metadata_shell import main; sys.exit(main())"
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm", PROMPT_TOOLKIT_NO_CPR="1", PYTHONPATH=str(GOLDEN.parents[2]))
        os.execv(sys.executable, [sys.executable, "-c", code, "-s", str(CHECKPOINT)])

    try:
        # Each key is pressed when the shell has answered the one before.
        for expected, key in (
            (rb"\[ Kafka Metadata Shell \][^>]*>>", b"cat /image/prod\t"),
            (rb"ucerIds/", b"\t"),
            (rb"nextProducerId", b"\r"),
            (rb"\n1000\s+>>", b"\x04"),
        ):
            _wait_for(terminal, expected)
            os.write(terminal, key)
        _wait_for(terminal, None)
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(terminal)

    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)  # it had closed its terminal by then


def _wait_for(terminal: int, expected: bytes | None) -> None:
    """Read a terminal up to an expected text; None: up to its end."""
    seen = b""
    while True:
        ready, _, _ = select.select([terminal], [], [], 20)
        assert ready, seen
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            data = b""
        if not data:
            assert expected is None, seen
            return
        seen += re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", data)
        if expected is not None and re.search(expected, seen):
            return
