"""Faults of disks: operations that fail, slow syncs, bit rot, disks that are emptied or replaced by a backup.

A voter whose disk is emptied, or restored from a backup, forgets its votes; in general no protocol with static voters
tolerates that. So it happens to one voter at a time, while the leader and all others are healthy and have all committed
records; see DESIGN.md.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

from raft.state.log_view import BOOTSTRAP
from raft.state.roles import Follower, Leader
from raft.storage.names import CHECKPOINT, LOG, QUORUM_STATE, snapshot_name
from raft.storage.scan import CRC_AT
from simulations.faults.targets import find
from simulations.world.chains import parts
from simulations.world.disk import DIRECTORY, SECTOR_BYTES
from simulations.world.machine import PREFIX_INTERVAL_MS, DiskFault
from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.faults.interfaces import StruckRun
    from simulations.world.process import Node, Process

Args = dict[str, Any]

# The factor by which a stalled disk slows a sync, which otherwise takes half a millisecond.
STALLED_TIMES = 10_000

# After the interval: the next housekeeping, and the syncs before the file has its name.
PREFIX_WRITTEN_WITHIN_MS = 1_500

_BOOTSTRAP = f"{DIRECTORY}/{snapshot_name(*BOOTSTRAP)}"

CODES = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EROFS": errno.EROFS}


def slow_syncs(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """Each sync of a node takes `times` as long."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    node.pace_times = args["times"]
    run.later(args["for_ms"], setattr, node, "pace_times", 1)
    return True


def stall(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The disk of a node is very slow for for_ms, while the node writes on; then the machine loses power, and all
    pending writes. down_ms: until it is started again.
    """
    node = find(run, args["whom"], struck)
    if node is None or node.process is None:
        return False
    node.pace_times = STALLED_TIMES
    run.later(args["for_ms"], _end_stall, node, args["down_ms"])
    return True


def _end_stall(node: Node, down_ms: int) -> None:
    node.pace_times = 1
    if node.process is not None:
        node.lose_power()
        node.start_after(down_ms * MS)


def fails(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The next operation of a kind fails. operation, file: as of `files`; code: EIO, ENOSPC, EROFS."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    fault = DiskFault(args["operation"], args["file"], CODES[args["code"]], once=True)
    node.disk_faults.append(fault)
    return True


def read_only(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """Nothing can be written for a while: the file system was remounted read-only after an error."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    faults = [
        DiskFault(each, "", errno.EROFS, once=False) for each in ("create", "write", "truncate", "rename", "remove")
    ]
    node.disk_faults += faults

    def undo() -> None:
        node.disk_faults = [fault for fault in node.disk_faults if fault not in faults]

    run.later(args["for_ms"], undo)
    return True


def full(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """No file can grow for a while."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    disk = node.disk
    disk.full = True
    run.later(args["for_ms"], setattr, disk, "full", False)
    return True


def wipe(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A node loses its disk and gets an empty one, with another directory id. down_ms: until it is started."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False

    def empty() -> None:
        if not _may_forget(run, node):
            return
        node.kill()
        node.new_disk()
        run.on_disk_replaced(node)
        if run.plan.kraft_version:
            run.make_observer(node)
        run.count("wipe:done")
        node.start_after(args["down_ms"] * MS)

    run.later(0, empty)
    return True


def restore(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A node's disk is restored to its contents of after_ms ago: an old backup."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    kept = node.disk.copy_durable()
    number = node.disk.number

    def put_back() -> None:
        if node.disk.number != number or not _may_forget(run, node):
            return
        node.kill()
        disk = node.disk
        disk.files.clear()
        disk.durable.clear()
        disk.changes.clear()
        for path, data in kept.items():
            disk.put(path, data, read_only=path.endswith(".checkpoint"))
        run.on_disk_replaced(node)
        run.count("restore:done")
        node.start_after(args["down_ms"] * MS)

    run.later(args["after_ms"], put_back)
    return True


def _may_forget(run: StruckRun, node: Node) -> bool:
    """Whether this node can lose its log and its vote without violating safety.

    There is a leader that is not this node; all other voters follow it, and have on disk all committed records and its
    epoch; this node has no more than they, so none of its messages still in flight can commit more. So no node needs
    its copy, and no election of an epoch that it knew can still be won.
    """
    ledger = run.ledger
    if node.id not in ledger.voter_ids:
        return True
    if run.plan.kraft_version and (len(ledger.voter_ids) < 3 or run.forgotten):
        return False  # with directory ids an emptied voter votes no more
    others = [run.nodes[voter_id] for voter_id in ledger.voter_ids if voter_id != node.id]
    processes = [other.process for other in others if other.process is not None and other.process.is_listening]
    if len(processes) < len(others) or not others:
        return False
    leaders = [each for each in processes if isinstance(each.replica.role, Leader)]
    if len(leaders) != 1:
        return False
    epoch = leaders[0].replica.epoch
    durable = [ledger.durable(other) for other in others]
    end = ledger.history.end
    number = ledger.history.chain_at[end]
    return (
        all(each.replica.epoch == epoch and isinstance(each.replica.role, (Leader, Follower)) for each in processes)
        and all(view.election.epoch == epoch and (view.at(end) == number or view.covers(end)) for view in durable)
        and ledger.durable(node).election.epoch <= epoch
        and ledger.durable(node).segments_end() <= end
        and (node.process is None or not node.process.is_listening or node.process.replica.epoch <= epoch)
    )


def rot(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A bit flips: in any batch of the log on disk, the last one too, or in a snapshot; in the CRC or after it, as the
    CRC does not cover the rest. The node must detect it before it uses the batch, and not take it for a torn tail.
    file: log or snapshot; place: of 1000, which batch and which byte; bit: 0 to 7.
    """
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    batches = []
    suffix = LOG if args["file"] == "log" else CHECKPOINT
    for path in sorted(node.disk.durable):
        if path.startswith(DIRECTORY) and path.endswith(suffix) and path != _BOOTSTRAP:
            inode = node.disk.durable[path]
            batches += [(inode, each) for each in parts(inode.synced)]
    if len(batches) < 2:
        return False
    inode, batch = batches[len(batches) * args["place"] // 1000]
    first = batch.start + CRC_AT
    inode.rot[first + (batch.stop - first) * args["place"] // 1000] = 1 << args["bit"]
    run.ledger.damaged.add(node.id)
    return True


def lose_sector(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A sector of the log reads as zeros, among records that were committed when the committed prefix was last due; the
    node is killed. Zeros look like a torn end, and only the prefix tells that they are none. place: of 1000, which
    batch; down_ms.
    """
    node = find(run, args["whom"], struck)
    if node is None or node.process is None or not node.process.is_listening:
        return False
    life, committed = node.life, node.process.replica.log.committed

    def lose() -> None:
        process = node.process
        if process is None or node.life != life or not process.is_listening or node.pace_times > 1:
            return
        at = None
        for path in sorted(node.disk.durable):
            if path.startswith(DIRECTORY) and path.endswith(LOG):
                inode = node.disk.durable[path]
                batches = [each for each in parts(inode.synced) if each.end_offset <= committed]
                if batches:
                    at = inode, batches[len(batches) * args["place"] // 1000]
        if at is None:
            return
        inode, batch = at
        node.kill()
        start = batch.start // SECTOR_BYTES * SECTOR_BYTES
        for position in range(start, min(start + SECTOR_BYTES, len(inode.data))):
            inode.rot[position] = inode.data[position]
        run.ledger.damaged.add(node.id)
        run.count("lost_sector:done")
        node.start_after(args["down_ms"] * MS)

    run.later(PREFIX_INTERVAL_MS + PREFIX_WRITTEN_WITHIN_MS, lose)
    return True


def garble(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """quorum-state is damaged: of a later version, truncated, or zeros. The node must refuse to start with it. what:
    version, cut or zeros; down_ms.
    """
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    path = f"{DIRECTORY}/{QUORUM_STATE}"

    def replace() -> None:
        inode = node.disk.durable.get(path)
        if inode is None or not inode.synced:
            return
        text = bytes(inode.synced)
        garbled = {
            "version": text.replace(b'"data_version":', b'"data_version":7'), "cut": text[: len(text) // 2],
            "zeros": bytes(len(text)),
        }[args["what"]]  # fmt: skip
        node.kill()
        for name in [name for name, each in node.disk.durable.items() if each is inode]:
            node.disk.put(name, garbled)
        run.ledger.damaged.add(node.id)
        run.count("garble:done")
        node.start_after(args["down_ms"] * MS)

    run.later(0, replace)
    return True


def lose_snapshot(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The newest snapshot of a node is lost: it starts from an older one, or not at all. down_ms."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False

    def take_away() -> None:
        snapshots = [snapshot for snapshot in run.ledger.durable(node).snapshots if snapshot != BOOTSTRAP]
        if not snapshots:
            return
        newest = max(snapshots, key=lambda snapshot: (snapshot.epoch, snapshot.end_offset))
        node.kill()
        node.disk.take_away(f"{DIRECTORY}/{snapshot_name(*newest)}")
        run.ledger.damaged.add(node.id)
        run.lose_snapshot(node, newest)
        run.count("lose_snapshot:done")
        node.start_after(args["down_ms"] * MS)

    run.later(0, take_away)
    return True
