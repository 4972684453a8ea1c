"""The directories of a node as `kraftctl doctor` finds them: files, ids, owners, lock, log and voter set."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from raft.storage.errors import StorageError
from raft.storage.files import OsFiles
from raft.storage.meta_properties import META_PROPERTIES, read_meta_properties
from raft.storage.names import QUORUM_STATE
from records.metadata_log import PARTITION_DIRECTORY
from records.uuids import is_reserved, parse_uuid, uuid_text
from tools.kraftctl.findings import ERROR, OK, WARNING, Finding, Obstacle
from tools.kraftctl.points.points import NoPoint, PastDirectory, Reading
from tools.offline.live_directory import NoMetadata
from tools.offline.log_file import DamagedLog

# pathlib costs 10 ms
# ruff: noqa: PTH112, PTH208

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.config.node import NodeConfig
    from raft.storage.meta_properties import MetaProperties
    from tools.kraftctl.points.noting_image import NotingImage
    from tools.offline.examined import Examined

FREE_BYTES_MIN = 256 << 20
# A wall clock may be this far behind the time of the last record, which the leader's clock gave.
CLOCK_MS = 1000
FILES_MAX = 100_000
KRAFT_VERSION = "kraft.version"
REPLACED = "its disk was replaced"


class Own(NamedTuple):
    """What the node's disk says. mark: of the metadata directory; image: of its log; None where unreadable.

    is_running: a process holds the lock. examined: the files of the log, None for a running node, and where none can be
    read. cluster_ids: of other directories of this node. is_replaced: the voter set has another directory of this node.
    lacks_vote: the log was written to, and there is no quorum-state. has_lost_data: the running node says so.
    """

    findings: list[Finding]
    mark: MetaProperties | None
    image: NotingImage | None
    is_running: bool
    examined: Examined | None = None
    cluster_ids: tuple[str, ...] = ()
    is_replaced: bool = False
    lacks_vote: bool = False
    has_lost_data: bool = False


def examine_directories(config: NodeConfig, path: str, now_ms: int, note: Callable[[int], None]) -> Own:
    """Examine all log directories. path: of the configuration, for the remedies; note: of a progress bar."""
    findings: list[Finding] = []
    marks: dict[str, MetaProperties] = {}
    metadata = config.metadata_log_dir
    for directory in dict.fromkeys((metadata, *config.log_dirs)):
        mark = _check_mark(directory, config, path, findings)
        if mark is not None:
            marks[directory] = mark
            findings += _ids(directory, mark, config)
        if os.path.isdir(directory):
            findings += _owners(directory)
            findings += _space(directory)
    findings += _between(marks)
    holder = _holder(metadata)
    image = examined = None
    if holder is None:
        examined = _examine(metadata, findings)
    if metadata in marks:
        by = f"process {holder}" if holder else "a process of another container"
        text = "no process holds the lock: the node does not run" if holder is None else f"{by} holds the lock"
        findings.append(Finding(OK, f"{metadata}/.lock", text))
    # Without meta.properties the log still has the addresses of the other controllers.
    has_log = metadata in marks or (examined is not None and bool(examined.epochs))
    if has_log and (examined is None or examined.fault is None):
        image = _log(metadata, findings, now_ms, note)
    lacks_vote = examined is not None and bool(examined.epochs) and examined.election is None
    if lacks_vote and examined is not None and examined.fault is None:
        text = "it is missing, and the log is not new: the node has forgotten which vote it gave"
        findings.append(
            Finding(WARNING, f"{examined.directory}/{QUORUM_STATE}", text, "start it when there is a leader")
        )
    is_replaced = False
    if image is not None and metadata in marks:
        of_voters = list(voter_set(config, path, marks[metadata], image))
        findings += of_voters
        is_replaced = any(REPLACED in each.text for each in of_voters)
    ids = tuple(mark.cluster_id for mark in marks.values() if mark.cluster_id is not None)
    return Own(findings, marks.get(metadata), image, holder is not None, examined, ids, is_replaced, lacks_vote)


def _check_mark(directory: str, config: NodeConfig, path: str, findings: list[Finding]) -> MetaProperties | None:
    """The `meta.properties` of a directory, and what is wrong with it."""
    file = f"{directory}/{META_PROPERTIES}"
    if not os.path.isdir(directory):
        what = "it is no directory" if os.path.exists(directory) else "the directory is not there"  # noqa: PTH110
        findings.append(Finding(ERROR, directory, what, f"create or mount it, then {format_command(config, path)}"))
        return None
    try:
        mark = read_meta_properties(OsFiles(), directory)
    except (StorageError, OSError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error).removeprefix(f"{file}: ")
        findings.append(Finding(ERROR, file, reason, "restore the file; do not format a directory that has a log"))
        return None
    if mark is not None and (mark.node_id is None or mark.cluster_id is None):
        lacking = "node.id" if mark.node_id is None else "cluster.id"
        findings.append(Finding(ERROR, file, f"it has no {lacking}: it is damaged", "restore the file; do not format"))
        return None
    if mark is not None:
        return mark
    if os.path.isdir(f"{directory}/{PARTITION_DIRECTORY}") and os.listdir(f"{directory}/{PARTITION_DIRECTORY}"):
        remedy = "restore it from a backup, with the cluster.id, node.id and directory.id of this node; do not format"
        findings.append(Finding(ERROR, file, "it is missing, and the directory has a metadata log", remedy))
    else:
        findings.append(Finding(ERROR, directory, "it is not formatted", format_command(config, path)))
    return None


def format_command(config: NodeConfig, path: str, cluster_id: str = "CLUSTER_ID") -> str:
    """The command that formats the directories of this node."""
    quorum = "" if config.voters else " --no-initial-controllers (the first node: --standalone)"
    return f"kafka-storage format --cluster-id={cluster_id} -c {path}{quorum}"


def _ids(directory: str, mark: MetaProperties, config: NodeConfig) -> Iterator[Finding]:
    file = f"{directory}/{META_PROPERTIES}"
    if mark.node_id is not None and mark.node_id != config.node_id:
        yield Obstacle(
            ERROR, file, f"node.id={mark.node_id} here, node.id={config.node_id} in the configuration",
            f"set node.id={mark.node_id} if this disk is that node's, else mount the disk of node {config.node_id}",
        )  # fmt: skip
    else:
        yield Finding(OK, file, f"cluster.id={mark.cluster_id}, node.id={mark.node_id}")
    if mark.cluster_id is not None and not is_uuid(mark.cluster_id):
        yield Finding(
            WARNING,
            file,
            f"cluster.id={mark.cluster_id} is no UUID",
            "keep it: Kafka takes any text, and an id is never changed",
        )
    if mark.cluster_id is not None and mark.cluster_id.startswith("-"):
        text = f"cluster.id={mark.cluster_id} begins with a dash, which tools take for an option"
        yield Finding(WARNING, file, text, f"write --cluster-id={mark.cluster_id}, with the equals sign")
    if mark.directory_id is None:
        if not config.voters:
            text = "it has no directory.id, which dynamic voters need"
            yield Obstacle(ERROR, file, text, "start the node once with controller.quorum.voters: it adds the id")
    elif is_reserved(mark.directory_id):
        text = f"directory.id={uuid_text(mark.directory_id)} is reserved"
        yield Obstacle(ERROR, file, text, "give it another id: kafka-storage random-uuid")


def is_uuid(text: str) -> bool:
    """Whether a cluster id is a UUID in Kafka's form."""
    try:
        parse_uuid(text)
    except ValueError:
        return False
    return True


def _between(marks: dict[str, MetaProperties]) -> Iterator[Finding]:
    """What does not agree between the directories."""
    clusters = {mark.cluster_id: directory for directory, mark in marks.items()}
    if len(clusters) > 1:
        text = ", ".join(f"cluster.id={cluster} in {directory}" for cluster, directory in clusters.items())
        yield Obstacle(ERROR, META_PROPERTIES, f"the directories are of different clusters: {text}",
                      "mount the disks of one cluster")  # fmt: skip
    seen: dict[bytes, str] = {}
    for directory, mark in marks.items():
        if mark.directory_id is None:
            continue
        if mark.directory_id in seen:
            text = f"directory.id={uuid_text(mark.directory_id)} is that of {seen[mark.directory_id]} too"
            yield Obstacle(ERROR, f"{directory}/{META_PROPERTIES}", text,
                          "one is a copy: remove the copy, or give it the id of its own disk")  # fmt: skip
        seen[mark.directory_id] = directory


def _owners(directory: str) -> Iterator[Finding]:
    """What another user owns, and what cannot be written by its owner."""
    owner = os.stat(directory).st_uid  # noqa: PTH116
    if os.geteuid() == owner and not os.access(directory, os.W_OK | os.X_OK):
        yield Obstacle(ERROR, directory, "its owner may not write to it", f"chmod u+rwx {directory}")
    others: list[str] = []
    closed: list[str] = []
    for file in _files(directory):
        try:
            status = os.lstat(file)
        except OSError:
            continue  # a running node has removed it
        if status.st_uid != owner:
            others.append(file)
        elif not status.st_mode & stat.S_IRUSR:
            closed.append(file)
    if others:
        text = f"{others[0]} and {len(others) - 1} others" if len(others) > 1 else others[0]
        yield Obstacle(
            ERROR, directory, f"user {owner} owns it, but not {text}", f"chown -R {owner} {directory}"
        )  # fmt: skip
    if closed:
        yield Obstacle(ERROR, closed[0], "its owner may not read it", f"chmod u+r {closed[0]}")


def _files(directory: str) -> Iterator[str]:
    """The files of a node in a directory: those of the metadata partition, and those beside it."""
    for inner in (directory, f"{directory}/{PARTITION_DIRECTORY}"):
        try:
            names = sorted(os.listdir(inner))[:FILES_MAX]
        except OSError:
            continue
        yield from (f"{inner}/{name}" for name in names)


def _space(directory: str) -> Iterator[Finding]:
    status = os.statvfs(directory)
    free = status.f_bavail * status.f_frsize
    if free < min(FREE_BYTES_MIN, status.f_blocks * status.f_frsize // 10):
        yield Finding(WARNING, directory, f"{free >> 20} MiB are free", "make space: a node ends when its disk is full")


def _holder(directory: str) -> int | None:
    """The process that holds the lock of a directory, as `lock_holder` says it; None also where that cannot be read."""
    from tools.offline.lock import lock_holder

    try:
        return lock_holder(f"{directory}/.lock")
    except OSError:
        return None


def _examine(directory: str, findings: list[Finding]) -> Examined | None:
    """The files of the log of a node that does not run, and what is wrong with them."""
    from tools.offline.examined import NotALog, examine

    try:
        examined = examine(directory, with_mark=False)
    except NotALog:
        return None
    except (StorageError, OSError) as error:
        findings.append(Finding(ERROR, f"{directory}/{PARTITION_DIRECTORY}", str(error), "see below"))
        return None
    if examined.fault is not None:
        text = str(examined.fault).removeprefix(f"{examined.fault.file}, ")
        findings.append(Finding(ERROR, examined.fault.file, text, "see below"))
    return examined


def _log(directory: str, findings: list[Finding], now_ms: int, note: Callable[[int], None]) -> NotingImage | None:
    """The image of the log, and what is wrong with its records."""
    where = f"{directory}/{PARTITION_DIRECTORY}"
    if not os.path.isdir(where):
        return None  # formatted, and never started
    try:
        image = PastDirectory(directory, Reading(note=note)).update()
    except NoMetadata:
        return None  # a node that starts for the first time has written nothing yet
    except (NoPoint, DamagedLog, OSError) as error:
        findings.append(Finding(ERROR, where, str(error), f"kraftctl log verify {directory}"))
        return None
    if image.problems:
        text = f"{len(image.problems)} records cannot be replayed, first {image.problems[0]}"
        findings.append(Finding(ERROR, where, text, f"kraftctl log replay {directory}"))
    else:
        findings.append(Finding(OK, where, f"its log ends at offset {image.last_offset + 1}, epoch {image.last_epoch}"))
    if image.last_time_ms > now_ms + CLOCK_MS:
        text = f"this clock is {(image.last_time_ms - now_ms) // 1000} s behind the time of the last record"
        findings.append(Finding(WARNING, "clock", text, "synchronise the clocks of all nodes: chrony or ntp"))
    return image


def voter_set(config: NodeConfig, path: str, mark: MetaProperties, image: NotingImage) -> Iterator[Finding]:
    """What does not agree between the log's voter set, the configuration and the directory."""
    node_id, is_dynamic = config.node_id, image.features.get(KRAFT_VERSION, 0) > 0
    if not is_dynamic and image.last_offset >= 0 and not config.voters:
        yield Obstacle(
            ERROR, path, "controller.quorum.voters is not set, and the log has kraft.version=0: the voters are there",
            "set controller.quorum.voters as it was; raise kraft.version first, and change the configuration then",
        )  # fmt: skip
    if not is_dynamic and config.voters and node_id not in config.voters:
        voters = ",".join(map(str, sorted(config.voters)))
        text = f"controller.quorum.voters has nodes {voters}, and not node {node_id}"
        yield Obstacle(ERROR, path, text, "add it there, in the configuration of every node")
    if is_dynamic and config.voters:
        yield Finding(
            WARNING, path, "controller.quorum.voters is ignored: the voters are in the log (kraft.version=1)",
            "remove it, and name the controllers in controller.quorum.bootstrap.servers",
        )  # fmt: skip
    voter = image.voters.get(node_id)
    own = "" if mark.directory_id is None else uuid_text(mark.directory_id)
    if is_dynamic and voter is not None and voter["directory_id"] != own:
        yield Finding(
            ERROR, f"{config.metadata_log_dir}/{META_PROPERTIES}",
            f"directory.id={own}, but the voter set has node {node_id} with {voter['directory_id']}: {REPLACED}",
            f"start this node, and then: kraftctl quorum replace --id {node_id}",
        )  # fmt: skip
    if is_dynamic and voter is not None:
        yield Finding(OK, "voter set", f"nodes {', '.join(map(str, sorted(image.voters)))}, with this node")
