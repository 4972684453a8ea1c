"""Recorded runs of stock Kafka's tools (`tests/data/stock-tools`), and the same runs with our tools.

A case is a JSON object: the files to put into an empty directory, the arguments, and the output. `DIR` stands for that
directory, `GOLDEN` for `tests/data/golden`.
"""

from __future__ import annotations

import base64
import json
import re
import stat
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from records.batch import batches, records_of
from tests.controller.server.processes import called
from tools.registry import tool_of

DATA = Path(__file__).resolve().parents[2] / "data"
STOCK = DATA / "stock-tools"
GOLDEN = DATA / "golden"

Case = dict[str, Any]

_TIMES = re.compile(r"(?m)^#[A-Z][a-z]{2} .*$")
_WAITS = re.compile(r"(?<=timeout\.ms=)[46]00\b")
# A frame of a suppressed exception stands further to the right.
_FRAME = re.compile(r"\t+(at |\.\.\. \d+ more\n)")
# A line of the tool's log, with its time; in the recorded runs logs are off.
_LOGGED = re.compile(r"(?ms)^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] ERROR .*? \(org\.apache\.kafka\.[\w.]+\)\n")
_HEADER_KEY = b"\0\0\0\3"
_SECRETS = re.compile(r"(salt|storedKey|serverKey)=\[[^]]*\]")


def cases(name: str) -> list[Case]:
    """The cases of a file."""
    with (STOCK / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def case_id(case: Case) -> str:
    return " ".join(case["args"])[:80] or "(nothing)"


def prepare(case: Case, directory: Path, wait_ms: int | None = None) -> None:
    """Put the files of a case into its directory; a list of bytes in base64, text, or null for a directory.

    wait_ms: for what nobody answers, in place of the 400 to 600 ms that stock was given; None leaves these.
    """
    for name, content in case.get("files", {}).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir(exist_ok=True)
        elif isinstance(content, list):
            path.write_bytes(base64.b64decode(content[0]))
        else:
            text = content if wait_ms is None else _WAITS.sub(str(wait_ms), content)
            path.write_text(text.replace("DIR", str(directory)), encoding="utf-8")


def arguments(case: Case, directory: Path) -> list[str]:
    return [text.replace("DIR", str(directory)).replace("GOLDEN", str(GOLDEN)) for text in case["args"]]


def without_places(text: str, directory: Path) -> str:
    """The text with names in place of the parts that differ from run to run."""
    return text.replace(str(directory), "DIR").replace(str(GOLDEN), "GOLDEN")


def without_frames(text: str) -> str:
    """The output of Java without stack frames."""
    return "".join(line for line in text.splitlines(keepends=True) if not _FRAME.match(line))


def said(stdout: str, stderr: str, code: int) -> Case:
    """The output to compare: without secrets, and with the formatted directories in a fixed order.

    (Java formats them in the order of a hash of their paths, which differ from run to run.)
    """
    lines = _SECRETS.sub(r"\1=[hidden]", stdout).splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.startswith("Formatting ")]
    for number, line in zip(places, sorted(lines[number] for number in places), strict=True):
        lines[number] = line
    return {"stdout": without_frames("".join(lines)), "stderr": without_frames(_LOGGED.sub("", stderr)), "exit": code}


_ENTRIES = re.compile(r"(?m)(?:^ ?\t\(principal=.*\n)+")
# Each is a run of lines: operations in the help, and ACLs that are there already.
_LINES = [re.compile(f"(?m)(?:{line})+") for line in (r"^ +\t[A-Z]\w+ *\n", r"^Acl \(.* already exists\.\n")]
_SUPPORTED = re.compile(r"(?<=only supports operations \[)[\w, ]+")
_RESOURCE = r"{} ACLs for resource .*\n(?: ?\t\(principal=.*\n)+\n"
_RESOURCES = [re.compile(f"(?:{_RESOURCE.format(verb)})+") for verb in ("Current", "Adding")]


def acls_in_order(text: str) -> str:
    """The output of kafka-acls with resources, entries and operations sorted: stock prints them in the order of sets
    whose hashes differ from run to run.
    """
    text = _ENTRIES.sub(_sorted_entries, text)
    for lines in _LINES:
        text = lines.sub(lambda found: "".join(sorted(found[0].splitlines(keepends=True))), text)
    text = _SUPPORTED.sub(lambda found: ", ".join(sorted(found[0].split(", "))), text)
    for resources in _RESOURCES:
        text = resources.sub(lambda found: "\n\n".join(sorted(found[0][:-2].split("\n\n"))) + "\n\n", text)
    return text


def _sorted_entries(found: re.Match[str]) -> str:
    """The lines sorted; the first keeps the space before it."""
    space = " " * found[0].startswith(" ")
    return space + "".join(sorted(found[0].removeprefix(" ").splitlines(keepends=True)))


# The recorded runs ask this address, where no node listens.
_NO_NODE = "127.0.0.1:1"


class _Clock:
    """The clock of a tool whose attempts to connect all fail: a pause between two moves it, and takes no time."""

    def __init__(self) -> None:
        self._paused_s = 0.0

    def time(self) -> float:
        return time.time() + self._paused_s

    def monotonic(self) -> float:
        return time.monotonic() + self._paused_s

    def sleep(self, seconds: float) -> None:
        self._paused_s += seconds


def ours(tool: str, args: list[str]) -> Case:
    """The output of our tool, called in this process."""
    module = tool_of(f"kafka-{tool}").load()
    with patch("tools.client.admin.time", _Clock() if _NO_NODE in args else time):
        done = called(module.run, args)
    return said(done.stdout, done.stderr, done.returncode)


def left_in(directory: Path, *, random: bool) -> dict[str, Any]:
    """The files of a directory after a tool ran: path -> mode and contents, without times and random values.

    random: the case has random salts or ids, so the contents of checkpoints are left out.
    """
    found: dict[str, Any] = {}
    for path in sorted(directory.rglob("*")):
        mode = oct(stat.S_IMODE(path.stat().st_mode) & 0o700)
        name = str(path.relative_to(directory))
        if path.is_dir():
            found[name] = mode
        elif path.suffix == ".checkpoint":
            found[name] = [mode, None if random else checkpoint(path.read_bytes())]
        elif path.name == "meta.properties":
            text = _TIMES.sub("#TIME", path.read_text(encoding="utf-8"))
            found[name] = [mode, re.sub(r"directory\.id=.*", "directory.id=ID", text)]
    return found


def checkpoint(data: bytes) -> list[Any]:
    """The batches of a checkpoint without times and checksums, which must be right."""
    found = []
    for batch in batches(data):
        records = []
        for record in records_of(data, batch):
            key, value = record.key or b"", record.value or b""
            if key == _HEADER_KEY and value[2:10] != bytes(8):
                value = value[:2] + b"TIME" + value[10:]
            records.append([key.hex(), value.hex()])
        found.append([batch.base_offset, batch.last_offset, batch.leader_epoch, batch.attributes, batch.size, records])
    return found


def answer(tool: str, address: str, *arguments: str) -> Case:
    """What our tool prints when it asks the node at an address; its times and port are replaced by words."""
    case = ours(tool, [word.replace("ADDRESS", address) for word in arguments])
    for name in ("stdout", "stderr"):
        case[name] = re.sub(r"\d{13}", "TIME", case[name]).replace(address.rpartition(":")[2], "PORT")
    return case
