"""Stock's replica behind the commands: RaftOracle.java, spoken to through pipes."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from records.uuids import uuid_text
from tests.oracle.raft.commands import (
    Answer,
    Append,
    Fail,
    Pass,
    Request,
    Resign,
    Respond,
    Restart,
    Sent,
    Snapshot,
    Start,
    Upgrade,
)
from tests.oracle.raft.directory import (
    CLUSTER,
    LISTENER,
    START_MS,
    config_of,
    endpoint,
    files_of,
    own_key,
    voter_set,
)
from tests.oracle.stock import StockProcess

if TYPE_CHECKING:
    from raft.interface.config import Endpoint
    from tests.oracle.raft.commands import Command
    from tests.oracle.raft.ours import Ours

# Settings of the core, by the name that Kafka has for them.
SETTINGS = {
    "election_timeout_ms": "controller.quorum.election.timeout.ms",
    "fetch_timeout_ms": "controller.quorum.fetch.timeout.ms",
    "election_backoff_max_ms": "controller.quorum.election.backoff.max.ms",
    "request_timeout_ms": "controller.quorum.request.timeout.ms",
    "retry_backoff_ms": "controller.quorum.retry.backoff.ms",
    "append_linger_ms": "controller.quorum.append.linger.ms",
    "fetch_bytes_max": "controller.quorum.fetch.max.bytes",
    "fetch_snapshot_bytes_max": "controller.quorum.fetch.snapshot.max.bytes",
    "auto_join": "controller.quorum.auto.join.enable",
}


class StockReplica(StockProcess):
    """The Java program with one replica at a time."""

    main = "org.apache.kafka.raft.RaftOracle"

    def take(self) -> Answer:
        """The next answer, as `StockProcess.receive`."""
        tree = json.loads(self.receive_frame())
        sent = [
            Sent(item["peer"], item["host"], item["port"], item["ms"], item["api"], base64.b64decode(item["body"]))
            for item in tree["sent"]
        ]
        responses = [
            (item["number"], item["ms"], base64.b64decode(item["body"])) for item in tree["responses"] if "body" in item
        ]
        notes = [*tree["notes"], *(f"answered {item['wrong']}" for item in tree["responses"] if "wrong" in item)]
        state = tree.get("state", {})
        if state:
            state["voters"] = base64.b64decode(state["voters"])
        snapshot = base64.b64decode(tree["snapshot"]) if "snapshot" in tree else None
        return Answer(sent, responses, notes, state, snapshot)


def start_frame(start: Start) -> bytes:
    """The frame of a Start."""
    config = config_of(start)
    voters = voter_set(start)
    is_asked = not config.bootstrap_servers and start.id in voters.ids
    return _frame(
        "start",
        ownPlace=voters.ids.index(start.id) if is_asked else -1,
        id=start.id,
        directoryId=uuid_text(own_key(start).directory_id),
        clusterId=CLUSTER,
        listener=LISTENER,
        now=START_MS,
        seed=start.seed,
        files={name: _text(data) for name, data in files_of(start).items()},
        staticVoters=[] if start.kraft_version else [_endpoint(endpoint(each), id=each) for each in voters.ids],
        bootstrapServers=[_endpoint(each) for each in config.bootstrap_servers],
        endpoints=[_endpoint(each) for each in config.endpoints],
        fetchWaitMs=config.fetch_wait_max_ms,
        canBecomeVoter=config.has_controller_role,
        retentionBytes=config.retention_bytes_max,
        quorum={name: getattr(config, field) for field, name in SETTINGS.items()},
    )


def passed_frame(command: Pass, ours: Ours) -> bytes:
    """The frame of a Pass that ours has run.

    Stock is polled whenever ours took a step, too: at times it waits for longer than for what is due next.
    """
    return _frame("pass", ms=command.ms, times=ours.stepped_ms)


def frame_of(command: Command, ours: Ours, number: int, body: bytes) -> bytes:
    """The frame of any other command, with our state before it runs.

    Raises LookupError where it is about a request that was not sent, or a snapshot that nobody can take.
    """
    epoch = ours.replica.epoch
    match command:
        case Request():
            return _frame("request", number=number, api=command.api_key, version=command.version, body=_text(body))
        case Respond():
            nth = _nth(ours, command.peer, command.back)
            return _frame("answer", peer=command.peer, nth=nth, version=command.version, body=_text(body))
        case Fail():
            return _frame("fail", peer=command.peer, nth=_nth(ours, command.peer, command.back), error=command.error)
        case Append():
            records = [_text(value) for value in ours.records(command)]
            return _frame("append", epoch=epoch + command.epoch, records=records)
        case Upgrade():
            return _frame("upgrade", epoch=epoch + command.epoch)
        case Snapshot():
            snapshot = ours.snapshot_id(command)
            if snapshot is None:
                raise LookupError("no batch is committed whose end could be that of a snapshot")
            return _frame(
                "snapshot", end=snapshot.end_offset, epoch=snapshot.epoch, timestamp=ours.now_ms - 1,
                records=[_text(value) for value in ours.snapshot_records(snapshot)],
            )  # fmt: skip
        case Resign():
            return _frame("resign", epoch=epoch)
        case Restart():
            return _frame("restart", clean=command.clean)
        case Start() | Pass():
            raise AssertionError(f"{command} has a frame of its own")


def _nth(ours: Ours, peer: int, back: int) -> int:
    nth = len(ours.sent.get(peer, ())) - 1 - back
    if nth < 0:
        raise LookupError(f"nothing was sent to {peer}")
    return nth


def _frame(kind: str, **fields: Any) -> bytes:
    return json.dumps({"kind": kind, **fields}).encode()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _endpoint(found: Endpoint, **fields: Any) -> dict[str, Any]:
    return {"listener": found.listener, "host": found.host, "port": found.port, **fields}
