"""The commands of both sides, their answers, and the file format of a sequence.

A request's body is a tree with Kafka's field names. Fields that are left out have their defaults. A string that
begins with `$` is looked up in the state of ours when the command is run, so that a sequence stays meaningful when
commands before it are taken out: `$broker_epoch(1)`, `$topic_id(foo)`, `$end()-1`. See `lookups.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

ANONYMOUS = ("User", "ANONYMOUS")
PLAINTEXT = "PLAINTEXT"
CLIENT = "oracle"
# A periodic task that has more to do runs again in such a step: stock fences one broker in each.
AGAIN_MS, AGAIN_STEPS = 10, 10


@dataclass(frozen=True, slots=True)
class Start:
    """A new cluster of one controller. levels: feature -> level, as it is formatted with; seed: of both Randoms."""

    properties: tuple[tuple[str, str], ...] = ()
    levels: tuple[tuple[str, int], ...] = (("metadata.version", 30),)
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the API of this key; principal: its type and name.

    protocol: the security protocol of its listener. by_token: whether the principal was authenticated by a delegation
    token. forwarded: whether a broker sent it in an Envelope. client_id: None for null.
    """

    api_key: int
    version: int
    body: dict[str, Any]
    principal: tuple[str, str] = ANONYMOUS
    protocol: str = PLAINTEXT
    by_token: bool = False
    forwarded: bool = False
    client_id: str | None = CLIENT


@dataclass(frozen=True, slots=True)
class Pass:
    """The clock advances by this number of milliseconds in one step, then by AGAIN_MS in each of `steps` further steps.

    steps: is not in a file; the driver sets it.
    """

    ms: int
    steps: int = AGAIN_STEPS


@dataclass(frozen=True, slots=True)
class Lose:
    """Another node becomes leader; uncommitted records are lost."""


@dataclass(frozen=True, slots=True)
class Lead:
    """This node becomes leader of a new epoch."""


@dataclass(frozen=True, slots=True)
class Restart:
    """A new process loads the log, or a snapshot of it, and becomes leader."""

    from_snapshot: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The records of a snapshot at the high watermark."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Stop committing appended records (True), or commit all of them, and later ones at once (False)."""

    wanted: bool


Command = Start | Request | Pass | Lose | Lead | Restart | Snapshot | Hold


@dataclass(slots=True)
class Answer:
    """The result of one command.

    responses: (number of the request, body), the body None where the connection is closed. batches: the values of the
    records of each batch. notes: faults. snapshot: the values of its records. events: what ours logged, which is not
    compared.
    """

    responses: list[tuple[int, bytes | None]] = field(default_factory=list)
    batches: list[list[bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    snapshot: list[bytes] = field(default_factory=list)
    events: list[str] = field(default_factory=list)


NAMES: dict[str, type[Any]] = {
    "pass": Pass, "lose": Lose, "lead": Lead, "restart": Restart, "snapshot": Snapshot, "hold": Hold,
}  # fmt: skip


def to_line(command: Command) -> str:
    """A command as a line of a sequence file."""
    match command:
        case Start():
            tree: dict[str, Any] = {"levels": dict(command.levels), "seed": command.seed}
            if command.properties:
                tree["properties"] = dict(command.properties)
            return json.dumps({"start": tree})
        case Request():
            tree = {"request": command.api_key, "version": command.version, "body": command.body}
            if command.principal != ANONYMOUS:
                tree["principal"] = list(command.principal)
            if command.protocol != PLAINTEXT:
                tree["protocol"] = command.protocol
            if command.by_token:
                tree["byToken"] = True
            if command.forwarded:
                tree["forwarded"] = True
            if command.client_id != CLIENT:
                tree["clientId"] = command.client_id
            return json.dumps(tree)
        case Pass():
            return json.dumps({"pass": command.ms})
        case Restart():
            return json.dumps({"restart": command.from_snapshot})
        case Hold():
            return json.dumps({"hold": command.wanted})
    name = next(name for name, cls in NAMES.items() if cls is type(command))
    return json.dumps({name: True})


def from_line(line: str) -> Command:
    """The command of a line. Raises ValueError or KeyError for an invalid line."""
    tree = json.loads(line)
    if "start" in tree:
        start = tree["start"]
        return Start(
            tuple(start.get("properties", {}).items()), tuple(start["levels"].items()), int(start.get("seed", 1))
        )
    if "request" in tree:
        kind, name = tree.get("principal", ANONYMOUS)
        return Request(
            tree["request"],
            tree["version"],
            tree["body"],
            (kind, name),
            tree.get("protocol", PLAINTEXT),
            tree.get("byToken", False),
            tree.get("forwarded", False),
            tree.get("clientId", CLIENT),
        )
    ((name, value),) = tree.items()
    cls = NAMES[name]
    command: Command = cls(value) if cls in (Pass, Restart, Hold) else cls()
    return command


def to_text(commands: list[Command], comment: str = "") -> str:
    """A sequence file: lines that begin with `#` are for the reader."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*lines, *(to_line(command) for command in commands)]) + "\n"


def from_text(text: str) -> list[Command]:
    return [from_line(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]
