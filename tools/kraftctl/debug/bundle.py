"""`kraftctl debug bundle`: one archive for a ticket, from a running node or from a directory, without secrets."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import time
from functools import partial
from hashlib import sha256

from records.plain_text import plain_text
from records.release import VERSION
from tools.kraftctl.debug.parts import DONE, Rendered, collect_parts
from tools.kraftctl.debug.redaction import Redaction
from tools.kraftctl.debug.subject import subject_of
from tools.kraftctl.plain_streams import GREEN, YELLOW
from tools.kraftctl.terminal import colour_text, say

# pathlib costs 10 ms
# ruff: noqa: PTH100, PTH108, PTH120, PTH202

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    from tools.kraftctl.debug.parts import Collect
    from tools.kraftctl.debug.subject import Subject

KIND = "kraft-debug-bundle"
FORMAT_VERSION = 1
# What a part may take beside the time of the metrics.
PARTS_S = 30.0


def run(options: argparse.Namespace) -> int:
    """Exit code 0: the archive is whole. 1: nothing was written. 2: it is written, and a part of it failed."""
    now_ms = int(time.time() * 1000)
    subject = subject_of(options.config, options.directory)
    target = options.out or f"kraft-bundle-{subject.name}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.tar.gz"
    _check_target(target)
    secrets = set(subject.secrets())
    parts = collect_parts(wanted_parts(subject, options), options.seconds + PARTS_S)
    names = [part for part in parts if part.name == "names"]
    known = {name for part in names for _, content in part.contents for name in content}
    redaction = Redaction(secrets, known if options.remove_names else None, os.urandom(32))
    rendered = Rendered([part for part in parts if part not in names], redaction)
    rendered.sections |= {part.name: {"state": part.state, "reason": part.reason} for part in names}
    manifest = {
        "kind": KIND, "version": FORMAT_VERSION, "made_ms": now_ms, "made_by": f"kraftctl {VERSION}",
        "source": redaction.value(options.config or options.directory),
        "metrics_seconds": options.seconds, "secrets_removed": True, "names_removed": options.remove_names,
        "texts_changed": redaction.hidden, "sections": rendered.sections,
        "files": {
            name: {"bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in rendered.files.items()
        },
    }  # fmt: skip
    files = {"manifest.json": (json.dumps(manifest, indent=1) + "\n").encode(), **rendered.files}
    write_archive(target, files, now_ms // 1000)
    _say(options, target, rendered.sections)
    return 0 if all(each["state"] == DONE for each in rendered.sections.values()) else 2


def wanted_parts(subject: Subject, options: argparse.Namespace) -> dict[str, Collect]:
    """The parts by name, each a function that collects it."""
    from tools.kraftctl.debug import disk_parts, node_parts

    parts: dict[str, Collect] = {
        "versions": node_parts.versions_part,
        "directory": partial(disk_parts.directory_part, subject),
        "records": partial(disk_parts.records_part, subject, options.records),
        "process": partial(node_parts.process_part, subject),
    }
    if not options.no_probe:
        parts["disk"] = partial(disk_parts.disk_part, subject)
    if subject.config_path is not None:
        parts |= {
            "config": partial(node_parts.config_part, subject),
            "doctor": partial(node_parts.doctor_part, subject),
            "node": partial(node_parts.node_part, subject),
            "voters": partial(node_parts.voters_part, subject),
            "metrics": partial(node_parts.metrics_part, subject, options.seconds, options.every),
        }
    if options.log or subject.config_path is not None:
        parts["logs"] = partial(disk_parts.logs_part, subject, options.log)
    if options.remove_names:
        parts["names"] = partial(disk_parts.names_part, subject)
    return parts


def _check_target(target: str) -> None:
    """Check that the archive can be written. Raises OSError before anything is collected."""
    if os.path.lexists(target):
        raise FileExistsError(f"{target} is there already; name another file by --out")
    parent = os.path.dirname(os.path.abspath(target))
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OSError(f"{parent} cannot be written to; name another file by --out")


def write_archive(target: str, files: Mapping[str, bytes], time_s: int) -> None:
    """Write a new archive, for its owner alone; it has its name only when it is whole and on disk.

    Raises OSError; then nothing is left. A file that has the name already stays as it is.
    """
    root = os.path.basename(target).partition(".")[0] or "bundle"  # noqa: PTH119
    part = f"{target}.{os.getpid()}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            with gzip.GzipFile("", "wb", 6, file, time_s) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
                for name, data in files.items():
                    entry = tarfile.TarInfo(f"{root}/{name}")
                    entry.size, entry.mtime, entry.mode = len(data), time_s, 0o600
                    archive.addfile(entry, io.BytesIO(data))
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, a link never replaces a file that was made meanwhile.
        os.link(part, target)
    finally:
        os.unlink(part)


def _say(options: argparse.Namespace, target: str, sections: dict[str, dict[str, Any]]) -> None:
    if options.json:
        print(json.dumps({"bundle": target, "sections": sections}))
        return
    for name, each in sections.items():
        text = f"{name:<10} {each['state']}{': ' if each['reason'] else ''}{plain_text(each['reason'])}"
        print(colour_text(text, GREEN if each["state"] == DONE else YELLOW))
    names = "names have pseudonyms" if options.remove_names else "names of hosts, topics and users are in it"
    say(f"{target}: {os.path.getsize(target)} bytes; secrets are removed, {names}; look at it before you send it")
