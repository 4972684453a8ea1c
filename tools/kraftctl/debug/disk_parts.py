"""The parts of a bundle that the disk gives: directory, file system, the ends of logs and of the metadata log."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from struct import Struct

from raft.storage.names import LOG, segment_name, segment_offset
from records.hidden_text import HIDDEN
from records.metadata_log import PARTITION_DIRECTORY
from records.uuids import uuid_text
from tools.kraftctl.debug.node_parts import NotThere
from tools.kraftctl.debug.redaction import SECRET_KEY
from tools.kraftctl.points.entries import is_secret
from tools.offline.log_file import HEADER_BYTES, DamagedLog, LogFile
from tools.offline.metadata_values import MetadataError, metadata_record
from tools.offline.stored_records import records_of

# pathlib costs 10 ms
# ruff: noqa: PTH112, PTH113, PTH123, PTH208

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tools.kraftctl.debug.parts import Content
    from tools.kraftctl.debug.subject import Subject
    from tools.offline.log_file import StoredBatch

LOG_BYTES = 1 << 20
FILES_MAX = 1000
FSYNCS = 20
PROBE_S = 10.0
_HEAD = Struct(">qi")
_COUNT = Struct(">i")
_SECRET_FIELDS = {"salt", "storedKey", "serverKey"}
# In a process of its own, which is left alone if the disk hangs. The file has no name from the start, so none is left.
_PROBE = """
import json, os, sys, time
directory, count = sys.argv[1], int(sys.argv[2])
name = f"{directory}/.kraftctl-probe-{os.getpid()}"
handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
os.unlink(name)
for _ in range(count):
    began = time.perf_counter()
    os.write(handle, bytes(4096))
    os.fsync(handle)
    print(round((time.perf_counter() - began) * 1000, 3), flush=True)
"""


def directory_part(subject: Subject) -> Iterator[Content]:
    """The files of the directory, and what a check of them finds: ids, epochs, voters, segments, the first fault."""
    from tools.offline.examined import examine

    directory = _directory(subject)
    yield "directory/files.json", [_file(directory, name) for name in _names(directory)]
    examined = examine(directory)
    election = examined.election
    voters = () if examined.voters is None else examined.voters
    mark = None
    if examined.mark is not None:
        mark = {**examined.mark._asdict(), "directory_id": uuid_text(examined.mark.directory_id or bytes(16))}
    yield "directory/log.json", {
        "meta_properties": mark,
        "quorum_state": None if election is None else repr(election),
        "start_offset": examined.start_offset, "end_offset": examined.end_offset,
        "committed_at_least": examined.committed,
        "epoch": examined.epoch, "epochs": [{"epoch": epoch, "start": start} for epoch, start in examined.epochs],
        "snapshots": [{"end_offset": end, "epoch": epoch} for end, epoch in examined.snapshots],
        "segments": [{**each._asdict(), "path": os.path.basename(each.path)} for each in examined.segments],  # noqa: PTH119
        "kraft_version": examined.kraft_version,
        "voters": [
            {"id": voter.key.id, "directory_id": uuid_text(voter.key.directory_id), "endpoints": [
                f"{end.listener}://{end.host}:{end.port}" for end in voter.endpoints
            ]} for voter in voters
        ],
        "torn": None if examined.torn is None else str(examined.torn),
        "fault": None if examined.fault is None else str(examined.fault),
    }  # fmt: skip


def disk_part(subject: Subject) -> Iterator[Content]:
    """The file system of the directory, and how long a write of 4 KiB with fsync takes there."""
    directory = _directory(subject)
    space = os.statvfs(directory)
    yield "disk/space.json", {
        "mount": _mount_of(directory),
        "free_bytes": space.f_bavail * space.f_frsize, "bytes": space.f_blocks * space.f_frsize,
        "free_inodes": space.f_favail, "inodes": space.f_files,
    }  # fmt: skip
    command = [sys.executable, "-I", "-c", _PROBE, directory, str(FSYNCS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            out, error = process.communicate(timeout=PROBE_S)
        except subprocess.TimeoutExpired as expired:
            process.kill()
            said = expired.stdout or b""
            times = [float(each) for each in said.split()]
            yield "disk/fsync.json", {"ms": times, "error": f"{FSYNCS} writes did not end within {PROBE_S:g} s"}
            raise NotThere(f"{len(times)} of {FSYNCS} writes with fsync ended within {PROBE_S:g} s") from None
    times = sorted(float(each) for each in out.split())
    if process.returncode or not times:
        reason = error.strip().rpartition("\n")[2] or f"exit code {process.returncode}"
        raise NotThere(f"the write with fsync failed: {reason}")
    yield "disk/fsync.json", {"ms": times, "median_ms": times[len(times) // 2], "highest_ms": times[-1]}


def logs_part(subject: Subject, files: list[str]) -> Iterator[Content]:
    """The ends of the log files that were named, and of the audit log."""
    audit = None if subject.config is None else subject.config.text("kraft.audit.log")
    given = [*files, *([audit] if audit and os.path.isfile(audit) else [])]
    if not given:
        raise NotThere("a node writes its log to stderr; name the files that have it: --log FILE")
    failed = []
    for number, path in enumerate(given):
        name = f"logs/{number}-audit.log" if path == audit else f"logs/{number}.log"
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - LOG_BYTES))
                text = file.read(LOG_BYTES).decode(errors="replace")
        except OSError as error:
            failed.append(f"{path}: {error.strerror}")
            continue
        yield name, text if size <= LOG_BYTES else text.partition("\n")[2]
    if failed:
        raise NotThere("; ".join(failed))


def records_part(subject: Subject, count: int) -> Iterator[Content]:
    """The last records of the metadata log, a line of JSON each; the secrets among their values are hidden."""
    partition = f"{_directory(subject)}/{PARTITION_DIRECTORY}"
    lines: list[dict[str, Any]] = []
    bases = sorted(offset for name in os.listdir(partition) if (offset := segment_offset(name, LOG)) is not None)
    if not bases:
        raise NotThere(f"{partition} has no segment of the log")
    fault = ""
    for base in reversed(bases):
        segment_lines, fault = _last_lines(f"{partition}/{segment_name(base, LOG)}", count - len(lines))
        lines = segment_lines + lines
        if fault or len(lines) >= count:
            break
    yield "records.jsonl", lines
    if fault:
        raise NotThere(fault)


def _last_lines(path: str, count: int) -> tuple[list[dict[str, Any]], str]:
    """The last records of a segment, and what ended the reading too early, else empty."""
    lines: list[dict[str, Any]] = []
    with LogFile(path) as log:
        try:
            for batch in log.batches(_start_of_last(path, count)):
                lines += _lines_of(batch)
        except DamagedLog as error:
            return lines[-count:], f"{os.path.basename(path)}: {error}"  # noqa: PTH119
    return lines[-count:], ""


def _start_of_last(path: str, count: int) -> int:
    """Where the batches begin that hold the last records; only headers are read."""
    starts: deque[tuple[int, int]] = deque(maxlen=count)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(handle).st_size
        position = 0
        while position + HEADER_BYTES <= size:
            head = os.pread(handle, HEADER_BYTES, position)
            length = _HEAD.unpack_from(head)[1]
            if length < HEADER_BYTES - _HEAD.size or position + length + _HEAD.size > size:
                break  # preallocated zeros, or an append that is under way
            starts.append((position, max(1, _COUNT.unpack_from(head, HEADER_BYTES - _COUNT.size)[0])))
            position += length + _HEAD.size
    finally:
        os.close(handle)
    held = 0
    for start, records in reversed(starts):
        held += records
        if held >= count:
            return start
    return starts[0][0] if starts else position


def _lines_of(batch: StoredBatch) -> Iterator[dict[str, Any]]:
    head = {"epoch": batch.leader_epoch, "time_ms": batch.max_timestamp}
    if batch.is_control:
        yield {"offset": batch.base_offset, **head, "control": batch.record_count}
        return
    if not batch.is_intact():
        yield {"offset": batch.base_offset, **head, "error": "the CRC of the batch does not match"}
        return
    for stored in records_of(batch):
        line: dict[str, Any] = {"offset": stored.offset, **head}
        try:
            record, version = metadata_record(stored.value)
        except MetadataError as error:
            yield {**line, "error": str(error)}
            continue
        yield {**line, "type": type(record).__name__, "version": version, "data": _tree(record, version)}


def _tree(record: Any, version: int) -> dict[str, Any]:
    """The fields of a record, without those that are secret."""
    from records.printing.json_form import to_json

    tree = to_json(record, version)
    for name in _SECRET_FIELDS & tree.keys():
        tree[name] = HIDDEN
    if type(record).__name__ == "ConfigRecord" and tree.get("value") is not None:
        key = str(tree["name"])
        if is_secret(record.resource_type, key) or SECRET_KEY.search(key):
            tree["value"] = HIDDEN
    return tree


def _directory(subject: Subject) -> str:
    if subject.directory is None:
        raise NotThere("the directory is not known, as the configuration cannot be read")
    if not os.path.isdir(subject.directory):
        raise NotThere(f"{subject.directory} is no directory")
    return subject.directory


def _names(directory: str) -> list[str]:
    inside = f"{directory}/{PARTITION_DIRECTORY}"
    names = sorted(name for name in os.listdir(directory) if not os.path.isdir(f"{directory}/{name}"))
    if os.path.isdir(inside):
        names += [f"{PARTITION_DIRECTORY}/{name}" for name in sorted(os.listdir(inside))]
    return names[:FILES_MAX]


def _file(directory: str, name: str) -> dict[str, Any]:
    try:
        status = os.lstat(f"{directory}/{name}")
    except OSError as error:
        return {"file": name, "error": error.strerror}
    changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(status.st_mtime))
    return {
        "file": name, "bytes": status.st_size, "on_disk": status.st_blocks * 512, "changed": changed,
        "mode": f"{status.st_mode & 0o7777:04o}", "owner": status.st_uid,
    }  # fmt: skip


def _mount_of(directory: str) -> dict[str, str] | None:
    """The file system that holds a directory, by `/proc/self/mountinfo`; None where the system has none."""
    try:
        device = os.stat(directory).st_dev  # noqa: PTH116
        with open("/proc/self/mountinfo") as file:
            lines = [line.split() for line in file]
    except OSError:
        return None
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for fields in reversed(lines):
        if fields[2] == wanted:
            rest = fields[fields.index("-") + 1 :]
            return {"file_system": rest[0], "device": rest[1], "options": fields[5], "super_options": rest[-1]}
    return None


def names_part(subject: Subject) -> Iterator[Content]:
    """All names that the configuration and the metadata have: a list, from which the names are removed."""
    import socket

    from tools.offline.live_directory import LiveDirectory

    directory = _directory(subject)
    host = socket.gethostname()
    yield "names", [host, host.partition(".")[0], *subject.names()]
    image = LiveDirectory(directory).update()
    names: set[str] = {topic.name for topic in image.topics.values()}
    for listeners in (each.listeners for nodes in (image.brokers, image.controllers) for each in nodes.values()):
        names |= {*listeners, *(endpoint.host for endpoint in listeners.values())}
    names |= {broker.rack for broker in image.brokers.values() if broker.rack}
    for acl in image.acls.values():
        names |= {acl.principal, acl.principal.partition(":")[2], acl.host, acl.resource_name}
    names |= {name for entity in image.quotas for _, name in entity if name}
    names |= {name for _, name in image.configs if name} | {name for name, _ in image.scram}
    for token in image.tokens.values():
        names |= {token.owner, token.requester, *token.renewers}
    yield "names", sorted(name for name in names if name != "*" and not name.isdigit())
