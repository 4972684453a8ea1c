"""The comparison of two replicas: requests, responses, and the state after each command.

Normalisation:

1. Requests are compared in the order of time and peer: in which order several peers are asked at one moment is that of
   a Java hash map.
2. Responses are compared in the order of the requests that they answer.
3. Of the records in a Fetch response only whole batches are compared: stock cuts the last one where max_bytes end.
   Ours may send fewer of them, but not none: it sends what was appended together. The voters in a VotersRecord, also
   in a snapshot, and those that granted their vote in a LeaderChangeMessage have the order of a Java hash map.
4. Of an ApiVersions request only its destination and time are compared: the rest says which software this is.
5. Voters, nodes and replicas in a list are compared in the order of their ids.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from records.batch import batches
from records.codec import decode
from records.control import LeaderChangeMessage, VotersRecord
from records.control_batch import control_records_of
from records.features.levels import KAFKA_4_3
from records.messages.fetch import FetchResponse
from records.printing.json_form import to_json
from records.registry import request_class, response_class
from tests.oracle.compare import Difference, diff, name_of
from tests.oracle.raft.commands import API_VERSIONS, newest_version
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from tests.oracle.raft.commands import Answer

# Lists without an order, by the last part of their path, with what they are ordered by.
UNORDERED = {
    "currentVoters": ("voterId", "replicaId"), "observers": ("replicaId",), "nodes": ("nodeId",),
    "voters": ("voterId",), "leaderEndpoints": ("name",), "listeners": ("name",), "endpoints": ("name",),
}  # fmt: skip
_KEY = re.compile(r"ReplicaKey\([^)]*\)")
_KEYS = re.compile(r"\[ReplicaKey\([^\]]*\]")


def differences(ours: Answer, stock: Answer, versions: dict[int, tuple[int, int]]) -> list[Difference]:
    """The differences of two answers. versions: API key and version of each request, by its number."""
    found: list[Difference] = []
    if ours.notes != stock.notes:
        found.append(Difference("notes", "notes", ours.notes, stock.notes))
        if any(note.startswith("stopped") for note in stock.notes):
            return found
    if sorted(ours.sent) != sorted(stock.sent):
        found += diff("sent", "sent", _sent(ours), _sent(stock))
    if sorted(ours.responses) != sorted(stock.responses):
        found += _of_responses(_responses(ours, versions), _responses(stock, versions), versions)
    if ours.state != stock.state:
        found += diff("state", "state", _state(ours.state), _state(stock.state))
    if ours.snapshot != stock.snapshot:
        left, right = (answer.snapshot and whole_batches(answer.snapshot) for answer in (ours, stock))
        if left != right:
            found.append(Difference("snapshot", "snapshot", _hex(ours.snapshot), _hex(stock.snapshot)))
    return found


def _of_responses(
    left: dict[int, Any], right: dict[int, Any], versions: dict[int, tuple[int, int]]
) -> list[Difference]:
    found: list[Difference] = []
    for number in sorted(left.keys() | right.keys()):
        name = name_of(versions[number][0])
        if number not in left or number not in right:
            found.append(Difference(f"{name} answered", name, left.get(number), right.get(number), number))
        else:
            few, many = left[number]["records"], right[number]["records"]
            if few and few == many[: len(few)]:
                right[number]["records"] = few
            found += diff(name, name, left[number], right[number])
    return found


def _sent(answer: Answer) -> list[Any]:
    trees = []
    for peer, host, port, ms, api_key, body in answer.sent:
        cls = request_class(api_key)
        version = newest_version(api_key)
        tree = _sorted(to_json(decode(cls, version, body), version))
        if api_key == API_VERSIONS:
            tree = {}  # it says which software this is
        head = {"type": name_of(api_key), "peer": peer, "host": host, "port": port, "ms": ms}
        trees.append({**head, **tree})
    return sorted(trees, key=lambda tree: (tree["ms"], tree["peer"]))


def _responses(answer: Answer, versions: dict[int, tuple[int, int]]) -> dict[int, Any]:
    trees = {}
    for number, ms, body in answer.responses:
        api_key, version = versions[number]
        message = decode(response_class(api_key), version, body)
        records: list[Any] = []
        if isinstance(message, FetchResponse):
            for topic in message.responses:
                for partition in topic.partitions:
                    records += whole_batches(partition.records or b"")
                    partition.records = b""
        trees[number] = {"ms": ms, "records": records, **_sorted(to_json(message, version))}
    return trees


def whole_batches(data: bytes) -> list[Any]:
    """The whole batches: those of data as they are, those of control records as header and records."""
    found = []
    for batch in batches(data):
        if not batch.is_control:
            found.append(data[batch.position : batch.position + batch.size].hex())
            continue
        records = [(offset, kind, _in_order(message)) for offset, kind, message in control_records_of(data, batch)]
        found.append(str((batch._replace(crc=0, position=0), records)))
    return found


def _in_order(message: Any) -> Any:
    if isinstance(message, LeaderChangeMessage):
        message.granting_voters = tuple(sorted(message.granting_voters, key=lambda voter: voter.voter_id))
    elif isinstance(message, VotersRecord):
        message.voters = tuple(sorted(message.voters, key=lambda voter: voter.voter_id))
    return message


def _state(state: dict[str, Any]) -> dict[str, Any]:
    if not state:
        return state
    voters = to_json(decode(VotersRecord, 0, state["voters"]), 0)
    return {**state, "voters": _sorted(voters), "quorumState": _sorted(state["quorumState"])}


def _sorted(tree: Any) -> Any:
    """A tree in which lists without an order are sorted."""
    if isinstance(tree, list):
        return [_sorted(item) for item in tree]
    if isinstance(tree, str) and KAFKA is not KAFKA_4_3:
        # A set that 4.4.0 makes immutable has another order in each JVM.
        return _KEYS.sub(lambda keys: f"[{', '.join(sorted(_KEY.findall(keys[0])))}]", tree)
    if not isinstance(tree, dict):
        return tree
    made = {}
    for key, value in tree.items():
        value = _sorted(value)
        names = UNORDERED.get(key)
        if names is not None and isinstance(value, list):
            value = sorted(value, key=lambda item: ([str(item.get(name)) for name in names], str(item)))
        made[key] = value
    return made


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
