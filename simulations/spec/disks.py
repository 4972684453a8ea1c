"""Disks and snapshots of the specification: ordered writes, durable state, and the state after a
crash (KIP-595, KIP-630).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.spec.elections import need
from simulations.spec.membership import truncate_sets
from simulations.spec.values import (
    CANDIDATE,
    FOLLOWER,
    NOBODY,
    RESIGNED,
    UNATTACHED,
    UNKNOWN,
    Disk,
    Download,
    Election,
    Log,
    Node,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Collection

    from simulations.world.voter_sets import Key, Voters

BOOTSTRAP = (0, 0)


# Elections


def order_save(node: Node, number: int, election: Election) -> Node:
    """Order the election state to be saved."""
    disk = node.disk
    return node.but(disk=disk._replace(saving=(*disk.saving, (number, election)), said=election))


def persist_election(node: Node, number: int) -> Node:
    """PersistElection: it is durable, and everything that was ordered before it."""
    disk = node.disk
    election, saving = disk.election, disk.saving
    while saving and saving[0][0] <= number:
        election, saving = saving[0][1], saving[1:]
    return node.but(disk=disk._replace(election=election, saving=saving))


# The log


def order_write(node: Node, number: int, log: Log) -> Node:
    """Order the log to be written."""
    disk = node.disk
    disk = Disk(disk.election, disk.log, disk.saving, (*disk.writing, (number, log)), log, disk.said)
    return node.but(disk=disk)


def persist_log(node: Node, number: int, end: int) -> Node:
    """PersistLog: it is durable, and everything that was ordered before it. end: of a truncation within a batch, else
    UNKNOWN.
    """
    disk = node.disk
    log, writing = disk.log, disk.writing
    while writing and writing[0][0] <= number:
        log, writing = writing[0][1], writing[1:]
    node = node.but(disk=Disk(disk.election, log, disk.saving, writing, disk.asked, disk.said))
    if 0 <= end < node.log.end and not writing and disk.asked == node.log:
        need(end >= node.committed, "PersistLog", f"the disk keeps what is committed, up to {node.committed}")
        cut = node.log.cut(end)
        node = node.but(log=cut, sets=truncate_sets(node.sets, end), disk=node.disk._replace(log=cut, asked=cut))
    return node


# A crash, and what comes after


def may_survive(disk: Disk, election: Election | None, log: Log, snapshots: Collection[tuple[int, int]] = ()) -> str:
    """Why this cannot be the disk after a crash; "" if it can.

    snapshots: (epoch, end offset) of those that a start finds. If one is newer than the log, the log was to be emptied
    for it, and a start does so if the crash came before the order.
    """
    elections = [disk.election, *(value for _, value in disk.saving)]
    if election not in elections:
        return f"its election was {disk.election}, and is {election}"
    versions = [disk.log, *(version for _, version in disk.writing)]
    least = min(version.end for version in versions)
    is_emptied = log.start == log.end and (log.start_epoch, log.end) in snapshots
    if is_emptied and any((log.start_epoch, log.end) > (version.last_epoch, version.end) for version in versions):
        return ""
    if log.end < least:
        return f"its log was durable up to {least}, and ends at {log.end}"
    # A truncated log is a prefix of one of them; its start may have moved with a snapshot.
    if not any(version.shares(log) == log.end for version in versions if version.end >= log.end):
        return f"its log was {disk.log}, and is {log}"
    return ""


def restart(
    key: Key, sets: tuple[Voters, ...], election: Election | None, log: Log,
    snapshots: tuple[tuple[int, int, int], ...], now_ms: int,
) -> Node:  # fmt: skip
    """RestartWithState: the former role, as far as that is safe; a former leader is Resigned in its epoch. sets: the
    voter sets of the log.
    """
    last_election = election
    if last_election is None or last_election.epoch < log.last_epoch:
        last_election = Election(log.last_epoch)
    node = Node(
        *key, UNATTACHED, last_election.epoch, last_election.leader, last_election.voted, log,
        Disk(election, log, asked=log), now_ms, sets,
        committed=max((snapshot[1] for snapshot in snapshots), default=0), snapshots=snapshots,
    )  # fmt: skip
    if last_election.leader == node.id:
        return node.but(role=RESIGNED, voted=NOBODY)
    # A voter may have lost the record that made it one.
    if last_election.voted == node.id and node.may_stand:
        return node.but(role=CANDIDATE, leader=NOBODY, granted=frozenset((node.id,)), electorate=node.voters)
    if last_election.leader in node.voters.ids:
        return node.but(role=FOLLOWER, reaches=True)
    return node


# Snapshots


def take_snapshot(node: Node, snapshot: tuple[int, int, int]) -> Node:
    """TakeSnapshot: of committed records, up to the end of a record of the log."""
    epoch, end, _ = snapshot
    if end < node.log.start or any(known[:2] == (epoch, end) for known in node.snapshots):
        return node
    name = "TakeSnapshot"
    need(end <= node.committed, name, f"it holds what is committed, up to {node.committed}, and ends at {end}")
    need(node.log.epoch_before(end) == epoch, name, f"it is of epoch {epoch}, and the log's {node.log} before {end}")
    return node.but(snapshots=tuple(sorted((*node.snapshots, snapshot))))


def clean_log(node: Node, start: int) -> Node:
    """CleanLog: the log starts where a snapshot ends, and older snapshots are deleted."""
    name = "CleanLog"
    kept = tuple(each for each in node.snapshots if each[1] >= start)
    need(kept and kept[0][1] == start, name, f"a snapshot ends at {start}: {node.snapshots}")
    need(start <= node.committed, name, f"up to {start} all is committed")
    need(node.log.start < start <= node.log.end, name, f"the log has {start}")
    return node.but(log=node.log.begin_at(start), snapshots=kept)


def begin_download(node: Node, epoch: int, end: int, now_ms: int) -> Node:
    """HandleFetchResponse with a snapshot id."""
    is_newer = (epoch, end) > (node.log.last_epoch, node.log.end)
    is_possible = 0 <= epoch <= node.epoch and end >= node.committed
    if not is_newer or not is_possible or any(known[:2] == (epoch, end) for known in node.snapshots):
        return node
    return node.but(download=Download((epoch, end))).on_served(now_ms)


def take_part(node: Node, snapshot: tuple[int, int], position: int, length: int, size: int, now_ms: int) -> Node:
    """HandleFetchSnapshotResponse: the next bytes; any others end the download."""
    download = node.download
    if download is None:
        return node
    end = position + length
    is_next = snapshot == download.id and position == download.position and download.size in {UNKNOWN, size}
    if not is_next or not length or end > size:
        return node.but(download=None)
    return node.but(download=download._replace(position=end, size=size)).on_served(now_ms)


def load_snapshot(node: Node, snapshot: tuple[int, int], size: int, sets: tuple[Voters, ...]) -> Node:
    """LoadSnapshot: a complete one of the leader's; the log starts at its end. Not for a candidate, or a log with more.
    sets: the voter sets of the committed records that it covers.
    """
    epoch, end = snapshot
    node = node.but(freezing=None)
    is_newer = snapshot > (node.log.last_epoch, node.log.end)
    if not is_newer or end < node.committed or node.role not in {FOLLOWER, UNATTACHED}:
        return node
    return node.but(
        log=Log(end, epoch), committed=end, watermark=end, sets=sets,
        snapshots=(*(each for each in node.snapshots if each[:2] > snapshot), (epoch, end, size)),
    )  # fmt: skip
