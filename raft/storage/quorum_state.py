"""The file `quorum-state`: the epoch, its leader, and the vote given in it, as one line of JSON (KIP-595, KIP-853).

It has a second name, `quorum-state-kept`. Strimzi's images remove quorum-state at each start; without the second name a
voter that restarts within an election could vote twice in one epoch.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from raft.interface.config import ReplicaKey
from raft.interface.recovered import Election
from raft.storage.errors import StorageError
from raft.storage.files import read_whole, replace_file
from raft.storage.names import KEPT_QUORUM_STATE, QUORUM_STATE
from records.uuids import ZERO_UUID, parse_uuid, uuid_text

if TYPE_CHECKING:
    from raft.storage.files import Files

_INT32_MAX = (1 << 31) - 1


def quorum_state_text(
    epoch: int, leader_id: int | None, voted: ReplicaKey | None, kraft_version: int, voter_ids: tuple[int, ...]
) -> bytes:
    """The whole file. kraft.version 0 requires version 0, which has the voters but no directory id of the vote."""
    leader = -1 if leader_id is None else leader_id
    vote = -1 if voted is None else voted.id
    state: dict[str, object]
    if kraft_version == 0:
        state = {
            "clusterId": "",
            "leaderId": leader,
            "leaderEpoch": epoch,
            "votedId": vote,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter_id} for voter_id in voter_ids],
            "data_version": 0,
        }
    else:
        state = {
            "leaderId": leader,
            "leaderEpoch": epoch,
            "votedId": vote,
            "votedDirectoryId": uuid_text(ZERO_UUID if voted is None else voted.directory_id),
            "data_version": 1,
        }
    return json.dumps(state, separators=(",", ":")).encode()


def parse_quorum_state(text: bytes) -> Election:
    """The values in the file; only its first line counts. Raises ValueError for any other text."""
    try:
        state = json.loads(text.split(b"\n", 1)[0])
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError(f"{text[:60]!r} is not JSON") from None
    if not isinstance(state, dict):
        raise ValueError(f"{text[:60]!r} is not a JSON object")  # noqa: TRY004 - the text is wrong, not our call
    version = _number(state, "data_version", 0)
    if version > 1:
        raise ValueError(f"data_version is {version}, only 0 and 1 are read")
    epoch = _number(state, "leaderEpoch", 0)
    leader = _number(state, "leaderId", -1)
    vote = _number(state, "votedId", -1)
    directory = ZERO_UUID
    if version == 1:
        text_id = state.get("votedDirectoryId")
        if not isinstance(text_id, str):
            raise ValueError("votedDirectoryId is missing")
        try:
            directory = parse_uuid(text_id)
        except ValueError as error:
            raise ValueError(f"votedDirectoryId is {text_id[:30]!r}: {error}") from None
    return Election(epoch, None if leader < 0 else leader, None if vote < 0 else ReplicaKey(vote, directory))


def write_quorum_state(files: Files, directory: str, text: bytes) -> None:
    """Replace the file under both of its names; durable when this returns."""
    replace_file(files, f"{directory}/{QUORUM_STATE}", text, f"{directory}/{KEPT_QUORUM_STATE}")


def last_election(files: Files, directory: str) -> Election | None:
    """The newer of what the two names hold; None if both are missing. Raises StorageError if either is damaged."""
    return newer(*(read_quorum_state(files, directory, name) for name in (QUORUM_STATE, KEPT_QUORUM_STATE)))


def newer(one: Election | None, other: Election | None) -> Election | None:
    """The one of the higher epoch; in the same epoch a vote comes before the leader is known. Of equals the first."""
    return max((one, other), key=_age)


def _age(election: Election | None) -> tuple[int, bool, bool]:
    if election is None:
        return -1, False, False
    return election.epoch, election.leader_id is not None, election.voted is not None


def read_quorum_state(files: Files, directory: str, name: str = QUORUM_STATE) -> Election | None:
    """The election state in the partition's directory, under one of its names; None if the file is missing.

    Raises StorageError if the file is damaged: starting without it could give a second vote in an epoch.
    """
    path = f"{directory}/{name}"
    try:
        text = read_whole(files, path)
    except FileNotFoundError:
        return None
    try:
        return parse_quorum_state(text)
    except ValueError as error:
        raise StorageError(f"{path}: {error}") from None


def _number(state: dict[str, object], name: str, least: int) -> int:
    value = state.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _INT32_MAX:
        raise ValueError(f"{name} is {value!r}, not a number from {least} to {_INT32_MAX}")
    return value
