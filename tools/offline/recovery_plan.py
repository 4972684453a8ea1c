"""A quorum from one surviving log, after a majority of the voters is lost: measuring, and the plan (KIP-853).

The new voter set is one voter, the best survivor. It is appended to its log; with static voters only on request, by
which they become dynamic, else it is in the configuration, and the log stays as it is. In both cases the epoch moves
up by EPOCH_STEP.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from raft.interface.config import Endpoint, ReplicaKey, Voter
from records.uuids import is_reserved, parse_uuid, uuid_text
from tools.offline.saved_copy import Digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from raft.storage.meta_properties import MetaProperties
    from tools.offline.examined import Examined

VERSION = 1
KIND = "kraft-recovery-plan"
# The lost voters may have led epochs that the survivors have not heard of, and brokers may hold records of these. A
# record is known by its offset and epoch, so none may be written in such an epoch again.
EPOCH_STEP = 1000
EPOCH_MAX = (1 << 31) - 1
PLAN_BYTES_MAX = 16 << 20


class CannotRecover(Exception):
    """There is no plan for these directories, or a plan does not fit them; the text says why and what would."""


class Plan(NamedTuple):
    """What `apply` does to one directory, and what it must look like before.

    files: the digest of each file of the metadata. end_offset, epoch: of the log before. new_epoch: of the appended
    record and of quorum-state. new_kraft_version: 1 where `kraft_version` is 0 and the voters become dynamic. voter:
    the only voter of the new set. old_voters: ids, empty if unknown (static voters). survivors: the nodes that were
    measured. damaged: those of them whose directories have a fault, from which nothing is taken. lost: old voters that
    were not measured. may_lose: whether acknowledged writes may be lost.
    """

    directory: str
    cluster_id: str
    node_id: int
    directory_id: str
    kraft_version: int
    end_offset: int
    epoch: int
    new_epoch: int
    new_kraft_version: int
    voter: Voter
    old_voters: tuple[int, ...]
    survivors: tuple[int, ...]
    damaged: tuple[int, ...]
    lost: tuple[int, ...]
    may_lose: bool
    files: Mapping[str, Digest]

    @property
    def warning(self) -> str:
        """The first line of everything that is said about this plan."""
        others = [each for each in self.old_voters if each != self.node_id]
        named = f"voters {', '.join(map(str, others))}" if others else "all other old voters"
        if self.may_lose:
            of_whom = "lost or damaged nodes" if self.damaged else "the lost voters"
            loss = f"Acknowledged writes of {of_whom} may be gone, and no tool can find out."
        else:
            how = "lost or damaged" if self.damaged else "lost"
            loss = f"No acknowledged write is lost: fewer than a majority of the voters are {how}."
        return (
            f"{loss} Keep {named} switched off: if a majority of the old voters returns, no tool can stop it from "
            "electing a leader of its own."
        )


def election_epoch(examined: Examined) -> int:
    """The highest epoch that a directory knows: that of its log or of its quorum-state."""
    return max(examined.epoch, examined.election.epoch if examined.election is not None else 0)


def best_of(measured: list[Examined]) -> Examined:
    """The log with the highest (epoch, end offset), as an election would choose. Raises CannotRecover."""
    sound = [examined for examined in measured if examined.fault is None]
    if not sound:
        raise CannotRecover(f"no directory is sound; the first fault is {measured[0].fault}")
    return max(sound, key=lambda examined: (examined.epoch, examined.end_offset))


def make_plan(
    measured: list[Examined],
    digests: Mapping[str, Digest],
    *,
    address: tuple[str, int] | None = None,
    voters_count: int | None = None,
    static_voters: Mapping[int, tuple[str, int]] | None = None,
    listener: str = "",
    advertised: tuple[str, int] | None = None,
) -> Plan:
    """The plan for the best of the surviving directories. digests: of its files.

    address: host and port of the new voter, None for those in the old voter set. voters_count: how many static voters
    there were. static_voters: id -> address, of `controller.quorum.voters`. listener: of the controllers; with it,
    static voters become dynamic. advertised: the address in the properties of the survivor, which with the listener
    stand for what a log lacks that does not have it as a voter. Raises CannotRecover.
    """
    seed = best_of(measured)
    _check_identities(measured)
    assert seed.mark is not None, "checked"
    assert seed.mark.node_id is not None, "checked"
    assert seed.mark.cluster_id is not None, "checked"
    faults = {
        examined.mark.node_id: examined.fault
        for examined in measured
        if examined.mark is not None and examined.mark.node_id is not None
    }
    new_epoch = max(election_epoch(examined) for examined in measured) + EPOCH_STEP
    if new_epoch > EPOCH_MAX:
        raise CannotRecover(f"epoch {new_epoch} would be above {EPOCH_MAX}")
    if not seed.segments and seed.end_offset == 0:
        raise CannotRecover(f"{seed.directory} has no log segment; it never was part of a quorum")
    is_dynamic = seed.kraft_version > 0 or bool(listener)
    if is_dynamic and (seed.mark.directory_id is None or is_reserved(seed.mark.directory_id)):
        raise CannotRecover(f"{seed.log_directory}/meta.properties has no directory.id; start the node once, stop it")
    if seed.kraft_version:
        voter, old_ids = (
            _voter_of_log(seed, address, advertised, listener),
            () if seed.voters is None else seed.voters.ids,
        )
        count = len(old_ids)
    else:
        old_ids = tuple(sorted(static_voters or ()))
        if not old_ids and voters_count is None:
            raise CannotRecover(
                "kraft.version is 0, so the voters are in controller.quorum.voters and not in the log: give the "
                "properties of a survivor by -c, or their number by --static-voters"
            )
        count = len(old_ids) if voters_count is None else voters_count
        voter = _static_voter(seed.mark, address, static_voters or {}, listener)
    # A damaged voter counts as a lost one: it does not start, so it elects no leader, and the plan takes nothing from
    # its log, so what only that one has is lost.
    sound = {node_id for node_id, fault in faults.items() if fault is None}
    kept = len(sound & set(old_ids) if old_ids else sound)
    majority = count // 2 + 1
    if kept >= majority:
        undamaged = "" if len(sound) == len(faults) else " undamaged"
        raise CannotRecover(
            f"{kept} of {count} voters survive{undamaged}, which is a majority: start them, and they elect a leader "
            "without a recovery"
        )
    return Plan(
        seed.log_directory,
        seed.mark.cluster_id,
        seed.mark.node_id,
        uuid_text(voter.key.directory_id) if is_dynamic else "",
        seed.kraft_version,
        seed.end_offset,
        seed.epoch,
        new_epoch,
        max(seed.kraft_version, int(is_dynamic)),
        voter,
        old_ids,
        tuple(sorted(faults)),
        tuple(sorted(faults.keys() - sound)),
        tuple(each for each in old_ids if each not in faults),
        count - kept >= majority
        or any(examined.committed > seed.end_offset for examined in measured if examined.fault is not None),
        digests,
    )


def _voter_of_log(
    seed: Examined, address: tuple[str, int] | None, advertised: tuple[str, int] | None, listener: str
) -> Voter:
    """The survivor as it is in the last voter set of its log; or not in it, with the listener of its properties.

    An observer's log is a prefix of the leader's. It may be all that is left, as a voter's is after a truncation that
    removed the record which made it one. Raises CannotRecover.
    """
    assert seed.mark is not None, "checked"
    assert seed.mark.node_id is not None, "checked"
    assert seed.mark.directory_id is not None, "checked"
    old = seed.voters
    entry = None if old is None else old.get(seed.mark.node_id)
    key = ReplicaKey(seed.mark.node_id, seed.mark.directory_id)
    at = address or advertised
    if listener and at is not None and (entry is None or not entry.key.matches(key)):
        return Voter(key, (Endpoint(listener, *at),), (0, 1))
    if entry is None:
        raise CannotRecover(
            f"node {seed.mark.node_id} is not among the last voters of its own log "
            f"({', '.join(map(str, old.ids)) if old else 'none'}); measure the directory of a voter, or, if none is "
            "left, give the properties of this node by -c"
        )
    if not entry.key.matches(key):
        raise CannotRecover(
            f"voter {entry.key} of the log is another directory than {uuid_text(key.directory_id)} of "
            f"{seed.log_directory}: that disk was replaced after the log was written; if no better one is left, "
            "give the properties of this node by -c"
        )
    endpoints = entry.endpoints
    if address is not None:
        endpoints = tuple(Endpoint(each.listener, *address) for each in endpoints)
    return Voter(key, endpoints, entry.kraft_versions)


def _static_voter(
    mark: MetaProperties,
    address: tuple[str, int] | None,
    static_voters: Mapping[int, tuple[str, int]],
    listener: str,
) -> Voter:
    """The survivor, which the log does not name. listener: with it, the voter is for the log. Raises CannotRecover."""
    assert mark.node_id is not None, "checked"
    if static_voters and mark.node_id not in static_voters:
        raise CannotRecover(f"node {mark.node_id} is not in controller.quorum.voters; measure the directory of a voter")
    at = address or static_voters.get(mark.node_id)
    if not listener:
        return Voter(ReplicaKey(mark.node_id), (), (0, 1))
    if at is None:
        raise CannotRecover("the address of the new voter is not known: give --address")
    assert mark.directory_id is not None, "checked"
    return Voter(ReplicaKey(mark.node_id, mark.directory_id), (Endpoint(listener, *at),), (0, 1))


def _check_identities(measured: list[Examined]) -> None:
    """Raise CannotRecover unless the directories are those of different nodes of one cluster."""
    seen: dict[int, str] = {}
    for examined in measured:
        if examined.mark is None or examined.mark.node_id is None or examined.mark.cluster_id is None:
            raise CannotRecover(f"{examined.log_directory} has no meta.properties with node.id and cluster.id")
        first = measured[0].mark
        assert first is not None, "it was looked at first"
        if examined.mark.cluster_id != first.cluster_id:
            raise CannotRecover(
                f"{examined.log_directory} is of cluster {examined.mark.cluster_id}, {measured[0].log_directory} of "
                f"{first.cluster_id}"
            )
        if examined.mark.node_id in seen:
            two = f"{seen[examined.mark.node_id]} and {examined.log_directory}"
            raise CannotRecover(f"node {examined.mark.node_id} has two directories: {two}")
        seen[examined.mark.node_id] = examined.log_directory


def plan_text(plan: Plan, time_ms: int) -> str:
    """The plan as the JSON of its file."""
    voter = plan.voter
    said = {
        "kind": KIND,
        "version": VERSION,
        "warning": plan.warning,
        "made_ms": time_ms,
        **{name: value for name, value in plan._asdict().items() if name not in ("voter", "files")},
        "voter": {
            "id": voter.key.id,
            "directory_id": plan.directory_id,
            "endpoints": [each._asdict() for each in voter.endpoints],
            "kraft_versions": list(voter.kraft_versions),
        },
        "files": {name: digest._asdict() for name, digest in plan.files.items()},
    }
    return json.dumps(said, indent=2) + "\n"


def parse_plan(text: str) -> Plan:
    """The plan in a file. Raises CannotRecover if the text is not one that `plan_text` wrote."""
    try:
        said: Any = json.loads(text)
        if not isinstance(said, dict) or said.get("kind") != KIND:
            raise CannotRecover(f"the file is no plan: its kind is not {KIND}")
        if said["version"] != VERSION:
            raise CannotRecover(f"the plan has version {said['version']}, only {VERSION} is read")
        voter = said["voter"]
        new_kraft_version = said.get("new_kraft_version", said["kraft_version"])
        directory_id = parse_uuid(voter["directory_id"]) if new_kraft_version else bytes(16)
        low, high = (_number(each, 32767) for each in voter["kraft_versions"])
        if voter["id"] != said["node_id"] or voter["directory_id"] != said["directory_id"]:
            raise ValueError("the voter is another node than the one of the directory")
        if _number(said["new_epoch"], EPOCH_MAX) <= _number(said["epoch"], EPOCH_MAX):
            raise ValueError("the new epoch is not above that of the log")
        return Plan(
            _text(said["directory"]),
            _text(said["cluster_id"]),
            _number(said["node_id"]),
            _text(said["directory_id"]),
            _number(said["kraft_version"]),
            _number(said["end_offset"]),
            _number(said["epoch"]),
            _number(said["new_epoch"]),
            _number(new_kraft_version, 1),
            Voter(
                ReplicaKey(_number(voter["id"], EPOCH_MAX), directory_id),
                tuple(
                    Endpoint(_text(each["listener"]), _text(each["host"]), _number(each["port"], 65535))
                    for each in voter["endpoints"]
                ),
                (low, high),
            ),
            tuple(map(_number, said["old_voters"])),
            tuple(map(_number, said["survivors"])),
            tuple(map(_number, said["damaged"])),
            tuple(map(_number, said["lost"])),
            bool(said["may_lose"]),
            {_text(name): Digest(_number(each["size"]), _text(each["sha256"])) for name, each in said["files"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotRecover(f"the file is no plan: {type(error).__name__}: {error}") from None


def _number(value: object, largest: int = 1 << 62) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
        raise ValueError(f"{value!r:.60} is not a number from 0 to {largest}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > 4096:
        raise ValueError(f"{value!r:.60} is not a text")
    return value
