"""`kraftctl quorum hash`: the logs and the states of all replicas that can be read, compared at one offset."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from typing import NamedTuple

from records.plain_text import plain_text
from tools.client.quorum import NoLeader, look_in_parallel
from tools.client.quorum_options import addresses_of, known_nodes, security_of
from tools.config_file import read_config
from tools.kraftctl.cluster.replica_differences import (
    batch_difference,
    log_difference,
    log_hash,
    record_difference,
    state_difference,
    state_hash,
)
from tools.kraftctl.cluster.replica_logs import (
    NodeLog,
    batch_of,
    directory_log,
    end_of_directory,
    leader_batch,
    leader_log,
)
from tools.kraftctl.nodes.http_page import caller_of
from tools.kraftctl.nodes.node_status import ASK_S, find_pages
from tools.kraftctl.plain_streams import GREEN, RED, YELLOW
from tools.kraftctl.points.points import NoPoint
from tools.kraftctl.running import running
from tools.kraftctl.terminal import colour_text
from tools.offline.log_file import DamagedLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address, View
    from tools.kraftctl.cluster.replica_logs import ReplicaLog
    from tools.kraftctl.nodes.http_page import HttpPage
    from tools.kraftctl.nodes.node_status import NodeStatus

CLIENT_ID = "kraftctl-hash"
TRIES, PAUSE_S = 5, 1.0
EQUAL, DIFFERS, NOT_COMPARED = "equal", "differs", "not compared"
COLOURS = {EQUAL: GREEN, DIFFERS: RED, NOT_COMPARED: YELLOW}
UNREACHED = "a follower serves no records, and it has no HTTP port of ours; on its machine, name its --directory"


class Row(NamedTuple):
    """One replica. log, state: the hashes, empty where there is none. result: of EQUAL, DIFFERS, NOT_COMPARED."""

    replica: str
    result: str
    reason: str = ""
    log: str = ""
    state: str = ""


class Source(NamedTuple):
    """Where the quorum is read. security: None for PLAINTEXT."""

    leader: list[Address]
    security: ClientSecurity | None


def run(options: argparse.Namespace) -> int:
    """Exit code 0: all voters were compared, and are equal. 1: one could not be compared. 2: there is a difference."""

    def compare() -> int:
        with ExitStack() as pages:
            return _compare(options, pages)

    return running("quorum hash", compare)


def _compare(options: argparse.Namespace, pages: ExitStack) -> int:
    addresses, caller, security = addresses_of(options), caller_of(options), security_of(options)
    if options.config is not None:
        caller = caller.or_of(read_config(options.config))
    view = _look(addresses, security)
    source = Source([view.address], security)
    addresses += [each for voter in view.listeners.values() for each in voter.values() if each not in addresses]
    nodes, refused = _nodes(find_pages(addresses, known_nodes(options), caller, security), view, pages)
    owners = {directory: _owner(directory, view) for directory in options.directory}

    def ends() -> dict[str, int]:
        end_offsets = {"the leader": _look(source.leader, security).high_watermark}
        end_offsets |= {node.name: node.end_now() for node in nodes}
        return end_offsets | {directory: end_of_directory(directory) for directory in owners}

    leader = _read_leader(source, ends, options.offset)
    others = [node.below(leader.end_offset, leader.start_offset) for node in nodes]
    others += [
        directory_log(each, each if owner is None else f"{each} of node {owner}", leader.end_offset)
        for each, owner in owners.items()
    ]
    start_offset = max(each.start_offset for each in (leader, *others) if each.sums or each is leader)
    rows = [Row(leader.name, EQUAL, "", log_hash(leader, start_offset), state_hash(leader))]
    rows += [_row(leader, other, start_offset, source) for other in others] + refused
    seen = {view.leader_id, *(node.node_id for node in nodes), *owners.values()}
    rows += [Row(f"voter {each}", NOT_COMPARED, UNREACHED) for each in sorted(view.voters.keys() - seen)]
    _show(rows, leader.end_offset, start_offset, as_json=options.json)
    results = {row.result for row in rows}
    return 2 if DIFFERS in results else 1 if NOT_COMPARED in results else 0


def _look(addresses: list[Address], security: ClientSecurity | None) -> View:
    """The quorum as its leader sees it. Raises OSError."""
    try:
        return look_in_parallel(addresses, CLIENT_ID, ASK_S, security)
    except NoLeader as error:
        raise OSError(f"no leader: {error}") from None


def _read_leader(source: Source, ends: Callable[[], dict[str, int]], offset: int | None) -> ReplicaLog:
    """The leader's log below the lowest end of all replicas, or an offset that was given.

    A leader sends its newest snapshot first, which it may have written since the ends were asked for: then both are
    read again. Raises OSError, also for a replica that ends before that snapshot and stays there.
    """
    reason = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE_S)
        end_offsets = ends()
        least = min(end_offsets, key=end_offsets.__getitem__)
        try:
            return leader_log(
                source.leader, CLIENT_ID, end_offsets[least] if offset is None else offset, source.security
            )
        except NoPoint as error:
            reason = f"{error}; {least} ends first, at offset {end_offsets[least]}"
    raise OSError(reason)


def _nodes(
    statuses: list[tuple[NodeStatus, HttpPage | None]], view: View, pages: ExitStack
) -> tuple[list[NodeLog], list[Row]]:
    """The nodes of ours beside the leader, and a row for each HTTP port that does not serve the checksums."""
    nodes: dict[int, NodeLog] = {}
    refused = []
    for status, page in statuses:
        if page is None or status.node_id == view.leader_id:
            continue
        pages.callback(page.close)
        name = f"node {status.node_id} {status.address}"
        try:
            node = NodeLog(name, page)
        except OSError as error:
            refused.append(Row(name, NOT_COMPARED, str(error)))
            continue
        if node.node_id != view.leader_id:
            nodes.setdefault(node.node_id, node)
    return list(nodes.values()), refused


def _owner(directory: str, view: View) -> int | None:
    """The node id of a directory. Raises OSError for one of another cluster, or that is none."""
    from raft.storage.errors import StorageError
    from raft.storage.meta_properties import read_meta_properties
    from tools.offline.examined import NotALog, ReadOnlyFiles, partition_of

    try:
        properties = read_meta_properties(ReadOnlyFiles(), partition_of(directory)[0])
    except (StorageError, NotALog) as error:
        raise OSError(str(error)) from None
    if properties is not None and view.cluster_id and properties.cluster_id not in {None, view.cluster_id}:
        raise OSError(f"{directory} is of cluster {properties.cluster_id}, and the quorum of cluster {view.cluster_id}")
    return None if properties is None else properties.node_id


def _row(leader: ReplicaLog, other: ReplicaLog, start_offset: int, source: Source) -> Row:
    """What comparing a replica with the leader gives. start_offset: from where on the hashes of the logs are."""
    log, state = log_hash(other, start_offset), state_hash(other)
    at = log_difference(leader, other)
    if at is not None:
        return Row(other.name, DIFFERS, _describe(leader, other, at, source), log, state)
    if other.fault:
        return Row(other.name, DIFFERS, other.fault, log, state)
    if not other.sums and other.image is None:
        return Row(other.name, NOT_COMPARED, other.note or f"its log starts at offset {other.start_offset}")
    difference = state_difference(leader, other)
    if difference:
        return Row(other.name, DIFFERS, difference, log, state)
    begin = f"from offset {other.start_offset} on" if other.start_offset > leader.start_offset else ""
    return Row(other.name, EQUAL, "; ".join(filter(None, (begin, other.note))), log, state)


def _describe(leader: ReplicaLog, other: ReplicaLog, offset: int, source: Source) -> str:
    """The difference at an offset in words: of a directory the first record; of a node the batch."""
    said, last_offset = batch_difference(leader, other, offset)
    if last_offset is None:
        return said
    if not other.partition:
        return f"{said}: other bytes than the leader's; on its machine, --directory names the record"
    try:
        batch = leader_batch(source.leader, CLIENT_ID, last_offset, source.security)
        return f"{said}: {record_difference(batch, batch_of(other, offset))}"
    except (NoPoint, DamagedLog) as error:
        return f"{said}: {error}"


def _show(rows: list[Row], end_offset: int, start_offset: int, *, as_json: bool) -> None:
    if as_json:
        said = {"end_offset": end_offset, "start_offset": start_offset, "replicas": [row._asdict() for row in rows]}
        print(json.dumps(said))
        return
    print(f"below offset {end_offset}; hashes of the logs from offset {start_offset} on")
    width = max(len(row.replica) for row in rows)
    for row in rows:
        hashes = f"log {row.log or '-':<16}  state {row.state or '-':<16}"
        reason = f": {plain_text(row.reason)}" if row.reason else ""
        print(f"{plain_text(row.replica):<{width}}  {hashes}  {colour_text(row.result, COLOURS[row.result])}{reason}")
    sys.stdout.flush()
