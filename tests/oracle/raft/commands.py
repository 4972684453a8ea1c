"""The commands that both replicas are given, what both answer, and how a sequence of them is written in a file.

Bodies are trees with Kafka's field names, as in `tests/oracle/commands.py`. A string that begins with `$` is looked up
in the state of ours when the command is run (`lookups.py`): `$epoch()`, `$end()-1`, `$batches(3,2)`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from records.registry import request_class
from records.schema import schema_of
from tests.oracle.release import KAFKA

API_VERSIONS = 18
# The event of a request that is answered after its timeout.
LATE = "late"


@dataclass(frozen=True, slots=True)
class Start:
    """A replica with a directory, and a process that starts with it.

    id: of the replica. voters: ids of the voter set. kraft_version: 0 for static voters, 1 for a voter set in the
    snapshot 0-0. log: [epoch, number of records] of each batch that is in the log. snapshot: [end offset, epoch], in
    front of the log. election: epoch, leader and vote of quorum-state, None for no such file; -1 for unknown.
    old_directory: the entry of this replica in the voter set has another directory id; moved: another
    address, too. bootstrap: whether bootstrap
    servers are configured with static voters too. config: of `RaftConfig`, where it is not the usual.
    """

    id: int = 1
    voters: tuple[int, ...] = (1, 2, 3)
    kraft_version: int = 1
    log: tuple[tuple[int, int], ...] = ()
    snapshot: tuple[int, int] | None = None
    election: tuple[int, int, int] | None = None
    old_directory: bool = False
    moved: bool = False
    bootstrap: bool = False
    config: tuple[tuple[str, int], ...] = ()
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the API of this key, on a connection of its own."""

    api_key: int
    version: int
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Respond:
    """A peer answers a request. back: 0 for the newest that was sent to it, 1 for the one before."""

    peer: int
    version: int
    body: dict[str, Any]
    back: int = 0


@dataclass(frozen=True, slots=True)
class Fail:
    """A request fails with this error code, without an answer of the peer."""

    peer: int
    error: int
    back: int = 0


@dataclass(frozen=True, slots=True)
class Pass:
    """This number of milliseconds passes."""

    ms: int


@dataclass(frozen=True, slots=True)
class Append:
    """The state machine appends this number of records; epoch: its leader epoch, less the replica's epoch."""

    count: int
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The state machine raises kraft.version to 1; epoch: as of an Append."""

    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state machine writes a snapshot; place: of its end among the ends of committed batches, the newest 0."""

    place: int = 0


@dataclass(frozen=True, slots=True)
class Resign:
    """The state machine resigns from the epoch."""


@dataclass(frozen=True, slots=True)
class Restart:
    """A new process starts with the directory. clean: whether the old one closed its log."""

    clean: bool = True


Command = Start | Request | Respond | Fail | Pass | Append | Upgrade | Snapshot | Resign | Restart


def newest_version(api_key: int) -> int:
    """The version in which a request that was sent is compared: the newest that stock has."""
    return KAFKA.api_versions.get(api_key, schema_of(request_class(api_key)).versions[1])


class Sent(NamedTuple):
    """A request that was sent. body: in the newest version."""

    peer: int
    host: str
    port: int
    ms: int
    api_key: int
    body: bytes


@dataclass(slots=True)
class Answer:
    """The result of one command.

    responses: (number of the
    request, time, body). notes: what was refused, and faults. state: by name. snapshot: the bytes of its file. events:
    what ours noted, which is not compared.
    """

    sent: list[Sent] = field(default_factory=list)
    responses: list[tuple[int, int, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    snapshot: bytes | None = None
    events: list[str] = field(default_factory=list)


KINDS: dict[str, type[Any]] = {
    "start": Start, "request": Request, "respond": Respond, "fail": Fail, "pass": Pass, "append": Append,
    "upgrade": Upgrade, "snapshot": Snapshot, "resign": Resign, "restart": Restart,
}  # fmt: skip
NAMES = {cls: name for name, cls in KINDS.items()}


def to_line(command: Command) -> str:
    """A command as a line of a sequence file: its name with its fields, without those that have their defaults."""
    usual = type(command).__dataclass_fields__
    fields = {key: value for key, value in asdict(command).items() if value != usual[key].default}
    return json.dumps({NAMES[type(command)]: fields})


def from_line(line: str) -> Command:
    """The command of a line. Raises ValueError, KeyError or TypeError for an invalid line."""
    ((name, fields),) = json.loads(line).items()
    if name == "start":
        fields = {key: _frozen(value) for key, value in fields.items()}
    command: Command = KINDS[name](**fields)
    return command


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def to_text(commands: list[Command], comment: str = "") -> str:
    """A sequence file: lines that begin with `#` are for the reader."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*lines, *(to_line(command) for command in commands)]) + "\n"


def from_text(text: str) -> list[Command]:
    return [from_line(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]
