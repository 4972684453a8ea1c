"""The way out for one node as `kraftctl doctor` prints it: commands to copy, given what the other voters have.

Never one that formats a directory which a quorum may still need, and never one that leads back to doctor with the same
finding.
"""

from __future__ import annotations

import os
from shlex import quote
from typing import NamedTuple

from raft.interface.config import ReplicaKey
from raft.storage.errors import StorageError
from raft.storage.files import OsFiles
from raft.storage.meta_properties import META_PROPERTIES
from raft.storage.names import KEPT_QUORUM_STATE, QUORUM_STATE
from raft.storage.quorum_state import read_quorum_state
from records.uuids import is_reserved, uuid_text
from tools.kraftctl.findings import Obstacle
from tools.offline.formatting import has_metadata_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.config.node import NodeConfig
    from tools.client.quorum import Address, View
    from tools.kraftctl.doctor.doctor_directories import Own
    from tools.kraftctl.findings import Finding
    from tools.offline.examined import Examined

# What is set aside is kept, under a name that is new each time.
DAMAGED = "damaged-$(date +%s%N)"


class Around(NamedTuple):
    """What the network says. view: of the leader, None where none answers. cluster_ids: that the controllers named.

    silent: the addresses of controllers that do not answer. addresses: of all other controllers.
    """

    view: View | None = None
    cluster_ids: tuple[str, ...] = ()
    silent: tuple[Address, ...] = ()
    addresses: tuple[Address, ...] = ()


class Node(NamedTuple):
    """Of the node that is examined. file: its configuration, as it was given."""

    config: NodeConfig
    file: str
    own: Own
    around: Around

    @property
    def directory(self) -> str:
        return self.config.metadata_log_dir

    @property
    def servers(self) -> str:
        return ",".join(f"{host}:{port}" for host, port in self.around.addresses) or "HOST:PORT,..."

    @property
    def is_voter_of_log(self) -> bool:
        """Whether the last voter set of the log has this directory; also where no log was examined."""
        log, mark = self.own.examined, self.own.mark
        if log is None or mark is None or mark.directory_id is None:
            return True
        voter = None if log.voters is None else log.voters.get(self.config.node_id)
        return voter is not None and voter.key.matches(ReplicaKey(self.config.node_id, mark.directory_id))

    @property
    def is_static(self) -> bool:
        examined = self.own.examined
        if examined is not None and examined.epochs:
            return examined.kraft_version == 0
        return bool(self.config.voters)


def obstacles(findings: list[Finding]) -> list[Obstacle]:
    """What must be mended before the rest of the advice holds."""
    return [each for each in findings if isinstance(each, Obstacle)]


def way_out(node: Node, first: Sequence[Obstacle] = ()) -> list[str]:
    """The lines of the block: commands, and comments that begin with `#`. Empty if there is nothing to do.

    first: what is mended before anything else. Where no command does that, what would follow rests on a wrong disk,
    configuration or address, so doctor is to be run again.
    """
    lines = [each.advice() for each in first]
    if not all(each.is_mended_by_command for each in first):
        lines.append(f"# then run this again: kraftctl doctor -c {quote(node.file)}")
        return [*lines, *(_recover_from_new_cluster(node) if _is_of_other_cluster(node) else ())]
    return [*lines, *_way_out(node)]


def _way_out(node: Node) -> list[str]:
    own, view = node.own, node.around.view
    if own.has_lost_data or _knows_more(node):
        return _recover(node, stops_others=True)
    if not has_metadata_log(node.directory):
        if own.mark is not None and own.mark.node_id == node.config.node_id:
            return [] if own.is_running else _await_leader(node)
        return _rejoin(node, _empty(node))
    if own.mark is None or own.mark.node_id is None or own.mark.cluster_id is None:
        return _restore_mark(node)
    if own.is_running:
        return [] if view is not None else _await_leader(node)
    log = own.examined
    if log is None or log.fault is not None:
        return _mend(node, log)
    if own.image is not None and own.image.problems:
        return _without_record(node, own.image.problems[0])
    if own.is_replaced:
        return ["# start the node, and then:", _replace(node)]
    if own.lacks_vote:
        return [
            "# quorum-state is gone, and with it the vote that this node gave: start it when the others have a leader,",
            "# or, if they have none, after all of them that have theirs",
            *_await_leader(node),
        ]
    return _await_leader(node)


def _knows_more(node: Node) -> bool:
    """Whether this disk has committed records that the quorum does not have."""
    log, view = node.own.examined, node.around.view
    return log is not None and view is not None and view.high_watermark < log.committed


def _await_leader(node: Node) -> list[str]:
    """The log is sound. Without a leader: which controllers are needed, and what to do if they are lost."""
    if node.around.view is not None:
        return [] if node.own.is_running else ["# start the node"]
    start = [] if node.own.is_running else ["# start the node"]
    if not node.around.addresses:
        return start
    silent = ", ".join(f"{host}:{port}" for host, port in node.around.silent) or "none"
    return [
        *start,
        f"# start each other controller whose directory is not lost, until a majority runs (silent now: {silent})",
        *(_recover(node, stops_others=False) if has_metadata_log(node.directory) else ()),
    ]


def _is_of_other_cluster(node: Node) -> bool:
    """Whether this disk has metadata, and each controller that answers is of another cluster."""
    mark, others = node.own.mark, node.around.cluster_ids
    return mark is not None and bool(others) and mark.cluster_id not in others and has_metadata_log(node.directory)


def _recover_from_new_cluster(node: Node) -> list[str]:
    condition = (
        "# if the others were formatted anew in the place of this cluster, they have lost what this one has: stop"
    )
    return [condition, "# them, the brokers, and this node", *_recover(node, stops_others=True)[1:]]


def _recover(node: Node, *, stops_others: bool) -> list[str]:
    # With static voters, and for a directory that is no voter in its log, the address is in the properties alone.
    voters = "" if node.is_voter_of_log and not node.is_static else f"-c {quote(node.file)} "
    first = (
        ["# the other controllers have lost what this one has: stop them, the brokers, and this node"]
        if stops_others
        else [
            "# if a majority of the voters has lost its directories for good: acknowledged writes may be lost, and",
            "# this log becomes the quorum, or a better one (`kraftctl recover measure` compares). Stop the node",
        ]
    )
    return [
        *first,
        "plan=$(mktemp -u)",
        f"kraftctl recover plan --output $plan {voters}{quote(node.directory)}",
        "kraftctl recover apply $plan",
        "# and then what it prints",
    ]


def _empty(node: Node) -> list[str]:
    """Commands that leave an empty directory, with what was in it beside it."""
    directory = node.directory
    if os.path.isdir(directory) and not os.listdir(directory):  # noqa: PTH112, PTH208 - pathlib costs 10 ms
        return []
    aside = [f"mv {quote(directory)} {quote(directory)}.{DAMAGED}"] if os.path.lexists(directory) else []
    return [*aside, f"mkdir -p {quote(directory)}"]


def _rejoin(node: Node, commands: list[str]) -> list[str]:
    """A new directory, which fetches everything from the others. commands: that empty the old one."""
    view, node_id = node.around.view, node.config.node_id
    is_static = bool(node.config.voters)
    dynamic = "" if is_static else " --no-initial-controllers"
    file = quote(node.file)
    cluster = view.cluster_id if view is not None else (node.around.cluster_ids or ("CLUSTER_ID",))[0]
    form = f"kafka-storage format --cluster-id={cluster} -c {file}{dynamic}"
    if view is None:
        lines = [
            "# do not format it now: two empty directories of three elect a leader without your metadata.",
            "# start the controllers whose directories are intact, and run `kraftctl doctor` here again.",
            "# if a majority of the voters has lost its directories, run it on a survivor. If none is left:",
            f"#   kraftctl backup restore BACKUP -c {file}",
        ]
        if has_metadata_log(node.directory):
            return lines
        return [*lines, "# only if the cluster is new, and no controller was ever started:", f"#   {form}"]
    others = " ".join(f"--node {each}" for each in sorted(view.voters) if each != node_id)
    lines = ["# every acknowledged record must be on the other voters:"]
    lines.append(f"kraftctl wait {others} --bootstrap-controller {node.servers}")
    lines += [*commands, form, "# start the node, and then:"]
    if node_id in view.voters and not is_static:
        return [*lines, _replace(node)]
    observers = "" if node_id in view.voters else "--observers "
    lines.append(f"kraftctl wait {observers}--node {node_id} --bootstrap-controller {node.servers}")
    if observers and not is_static:
        add = f"kafka-metadata-quorum --bootstrap-controller {node.servers} --command-config {file} add-controller"
        lines += ["# if it should be a voter:", add]
    return lines


def _replace(node: Node) -> str:
    return f"kraftctl quorum replace --yes --id {node.config.node_id} --bootstrap-controller {node.servers}"


def _restore_mark(node: Node) -> list[str]:
    """The lines of `meta.properties`, from the log's voter set and the other controllers."""
    file = quote(f"{node.directory}/{META_PROPERTIES}")
    log, node_id = node.own.examined, node.config.node_id
    voter = None if log is None or log.voters is None else log.voters.get(node_id)
    known = [*node.own.cluster_ids, *node.around.cluster_ids]
    directory_id = "" if voter is None or is_reserved(voter.key.directory_id) else uuid_text(voter.key.directory_id)
    named = [f"directory.id={directory_id}"] if directory_id else []
    lines = ["version=1", f"cluster.id={known[0] if known else 'CLUSTER_ID'}", f"node.id={node_id}", *named]
    notes: list[str] = []
    if not directory_id and not node.is_static:
        notes.append("# this node was no voter: it joins as an observer, with a new directory id")
        lines.append("directory.id=$(kafka-storage random-uuid)")
    write = f'printf "%s\\n" {" ".join(_word(line) for line in lines)} > {file}'
    if not known:
        # Never a command with a word to fill in: it would be copied as it is.
        return [
            "# cluster.id is known neither here nor by a controller with a leader: start the others, and run",
            "# `kraftctl doctor` here again. Or, with cluster.id of meta.properties of another controller or a broker:",
            f"#   {write}",
            "# if no directory of a controller or a broker has it any more: with one of `kafka-storage random-uuid` in",
            "# it, which each later `format` must name too. Then run `kraftctl doctor` here again",
        ]
    return [*notes, write, "# start the node"]


def _word(line: str) -> str:
    return f'"{line}"' if "$(" in line else quote(line)


def _mend(node: Node, log: Examined | None) -> list[str]:
    """A damaged file: set aside if the others of this directory are enough, else the directory is fetched anew."""
    file = "" if log is None or log.fault is None else log.fault.file
    aside = f"{quote(f'{node.directory}.{os.path.basename(file)}')}.{DAMAGED}"  # noqa: PTH119 - pathlib costs 10 ms
    if os.path.basename(file) in {QUORUM_STATE, KEPT_QUORUM_STATE}:  # noqa: PTH119
        return [*_set_aside_vote(node, os.path.dirname(file)), *_await_leader(node)]  # noqa: PTH120
    if log is not None and file.endswith(".checkpoint") and _is_spare(node, log):
        return [
            "# the log, or another checkpoint, has what is in it:",
            f"mv {quote(file)} {aside}",
            *_await_leader(node),
        ]
    if node.around.view is not None:
        return _rejoin(node, _empty(node))
    lines = _rejoin(node, [])
    if log is None:
        return lines
    kept = f"what is below offset {log.end_offset}, and loses {max(log.known_end - log.end_offset, 0)} records"
    return [
        *lines,
        f"# if this directory is the best that is left: a truncation keeps {kept} for good",
        f"kraftctl log truncate --lose-committed {quote(node.directory)}",
        *_recover(node, stops_others=False),
    ]


def _without_record(node: Node, problem: str) -> list[str]:
    """The files are sound, and a record cannot be replayed: the node ends there at each start."""
    first = f"# a record cannot be replayed here: {problem}"
    if node.around.view is not None:
        return [
            first,
            "# the leader goes on, so it has no such record, or a release that knows it: compare `kraftctl --version`,",
            "# and install that release here. If this one is not older, the records of this disk are other ones, and",
            *_rejoin(node, _empty(node)),
        ]
    return [
        first,
        "# each controller that has it ends there. Start those that do not (`kraftctl log replay DIR` on each says),",
        "# and run `kraftctl doctor` here again. If a newer release wrote it, run that release here, not this one.",
        "# if it is on all of them, and no newer release wrote it: stop them and the brokers, and end the log of each",
        "# at the same offset. What is behind that is lost, and the dry run counts it:",
        f"kraftctl log truncate {quote(node.directory)} --lose-committed --dry-run",
        f"kraftctl log truncate {quote(node.directory)} --lose-committed",
        "# start the node",
    ]


def _set_aside_vote(node: Node, partition: str) -> list[str]:
    """The damaged ones of the two names of quorum-state are set aside; a start takes the vote from the other."""
    damaged, is_known = [], False
    for name in (QUORUM_STATE, KEPT_QUORUM_STATE):
        try:
            is_known |= read_quorum_state(OsFiles(), partition, name) is not None
        except (StorageError, OSError):
            damaged.append(name)
    lost = [
        "# the vote that this node gave is lost: start it when the others have a leader, or, if they have none,",
        "# after all of them that have theirs",
    ]
    return [
        *(["# the vote that this node gave is in the other copy of quorum-state:"] if is_known else lost),
        *(f"mv {quote(f'{partition}/{name}')} {quote(f'{node.directory}.{name}')}.{DAMAGED}" for name in damaged),
    ]


def _is_spare(node: Node, examined: Examined) -> bool:
    """Whether the log reaches back to offset 0 or to a whole checkpoint, without the one that is damaged."""
    if node.config.voters == {} and examined.voters is None:
        return False  # the voter set is in this checkpoint alone
    return bool(examined.segments) and (
        examined.start_offset == 0 or any(end_offset >= examined.start_offset for end_offset, _ in examined.snapshots)
    )
