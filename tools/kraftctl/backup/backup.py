"""`kraftctl backup save | verify | restore | export`: the metadata of a live quorum or of a directory, and back."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from contextlib import suppress

from records.plain_text import plain_text
from tools.command_line.progress import Progress
from tools.command_line.standard_streams import unwrap_stream
from tools.kraftctl.plain_streams import GREEN, YELLOW
from tools.kraftctl.terminal import add_verb, colour_text, parser, say
from tools.offline.lock import DirectoryLocked, hold_unused
from tools.offline.new_directories import make_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tools.offline.backups import Manifest

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
# The name of a backup that the service made: UTC time, and the end offset.
_OWN = re.compile(r"\d{8}T\d{6}Z-\d+")
# A round that was killed leaves one of these, with secrets.
_UNFINISHED = re.compile(r"\d{8}T\d{6}Z\.new(\.part)?")
WAIT_S = 30.0


def run(arguments: list[str]) -> int:
    """Exit code 0: done. 1: not done; nothing was overwritten. 2: the backup that was verified is not whole."""
    options = arguments_parser().parse_args(arguments)
    from raft.storage.errors import StorageError
    from records.java.config_error import ConfigError
    from tools.client.quorum import NoLeader
    from tools.offline.backups import BadBackup
    from tools.offline.examined import NotALog
    from tools.offline.live_directory import NoMetadata
    from tools.offline.log_file import DamagedLog
    from tools.offline.restoring import CannotRestore
    from tools.offline.saved_copy import CopyExists
    from tools.offline.truncation import CannotTruncate

    try:
        return {"save": _save, "verify": _verify, "restore": _restore, "export": _export}[options.verb](options)
    except KeyboardInterrupt:
        return 130
    except BadBackup as error:
        print(f"kraftctl backup {options.verb}: {plain_text(error)}", file=sys.stderr)
        return 2 if options.verb == "verify" else 1
    except (
        CannotRestore, CannotTruncate, ConfigError, CopyExists, DamagedLog, DirectoryLocked, NoLeader, NoMetadata,
        NotALog, StorageError, OSError,
    ) as error:  # fmt: skip
        print(f"kraftctl backup {options.verb}: {plain_text(error)}", file=sys.stderr)
        return 1


def arguments_parser() -> argparse.ArgumentParser:
    top = parser(
        "kraftctl backup",
        "Save the metadata, check a backup, make a node from it, or print it as a script.\n"
        "A backup holds secrets; what `export` prints does not. Exit code 0: done; 1: not done; 2: not whole.",
        "kraftctl backup save --bootstrap-controller c1:9093 /backup/today",
        "kraftctl backup restore /backup/today -c controller.properties --as-of 2026-11-22T16:00:00Z --dry-run",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="save | verify | restore | export")
    save = add_verb(
        verbs, "save", "from a live quorum, or from the directory of a stopped node",
        "Save all committed metadata of a live quorum, or the log of a stopped node. With --every, save\n"
        "again and again to new directories in TARGET, and keep the newest.",
        "kraftctl backup save -c /etc/kafka/controller.properties /backup/today",
        "kraftctl backup save --bootstrap-controller c1:9093,c2:9093 --every 5m --keep 48 /backup",
    )  # fmt: skip
    where = save.add_mutually_exclusive_group(required=True)
    where.add_argument("--bootstrap-controller", metavar="HOST:PORT,…", help="one or more controllers")
    where.add_argument("-c", "--config", metavar="FILE", help="a controller.properties that names the controllers")
    where.add_argument("--directory", metavar="DIR", help="the log directory of a stopped node")
    save.add_argument("--command-config", metavar="FILE", help="properties of the client, as for Kafka's tools")
    save.add_argument(
        "--every", metavar="TIME", help="save again after each TIME, such as 90s, 5m or 1h, until stopped"
    )
    save.add_argument("--keep", type=int, metavar="N", help="with --every: remove all but the newest N of its backups")
    save.add_argument("target", metavar="TARGET", help="a new directory; with --every, the directory around them")
    verify = add_verb(
        verbs, "verify", "check digests, log and checkpoints, and replay it",
        "Check the digests, the log and the checkpoints of a backup, and replay it. Nothing is changed.",
        "kraftctl backup verify /backup/today",
        "kraftctl backup verify /backup/today --json",
    )  # fmt: skip
    restore = add_verb(
        verbs, "restore", "format the empty directories of a node from a backup",
        "Format the empty directories that a configuration names from a backup, as of its end or before.\n"
        "The node is then the only voter, at a higher epoch.",
        "kraftctl backup restore /backup/today -c controller.properties --dry-run",
        "kraftctl backup restore /backup/today -c controller.properties --as-of 4711",
    )  # fmt: skip
    restore.add_argument("-c", "--config", metavar="FILE", required=True, help="the node's controller.properties")
    restore.add_argument(
        "--as-of",
        metavar="OFFSET|TIME",
        help="restore the metadata as of this point; its forms are those of `kraftctl at` (default: the end)",
    )
    restore.add_argument(
        "--address", metavar="HOST:PORT", help="the address of the restored voter (default: the one that it advertises)"
    )
    export = add_verb(
        verbs, "export", "print topics, configs, ACLs and quotas as a script",
        "Print topics, configs, ACLs and quotas as a script of Kafka's tools, for a partial return.\n"
        "Secrets are left out: passwords in configs, credentials of SCRAM, delegation tokens.\n"
        "$BOOTSTRAP names the brokers.",
        "kraftctl backup export /backup/today --only topics,acls > again.sh",
        "kraftctl backup export /var/lib/kafka/metadata",
    )  # fmt: skip
    export.add_argument(
        "--only", metavar="PART,…", help="print only these: topics, configs, acls, quotas, users (default: all)"
    )
    for verb in (verify, restore, export):
        verb.add_argument("backup", metavar="BACKUP", help="a directory that `save` made")
    restore.add_argument("--dry-run", action="store_true", help="check everything and print the plan; write nothing")
    save.add_argument("--dry-run", action="store_true", help="check that TARGET is free and the source there")
    for verb in (save, verify, restore, export):
        verb.add_argument("--json", action="store_true", help="print one JSON object; with --every, one a line")
    return top


def _save(options: argparse.Namespace) -> int:
    if options.every is None:
        if options.keep is not None:
            raise OSError("--keep is for --every")
        return _save_once(options, options.target)
    seconds = _seconds(options.every)
    if options.keep is not None and options.keep < 1:
        raise OSError(f"--keep {options.keep}: at least 1 is expected")
    if not options.dry_run:
        make_directories(options.target, 0o700)
        _lock_service(options.target)
    while True:
        began = time.monotonic()
        _save_into(options)
        if options.dry_run:
            return 0
        time.sleep(max(0.0, seconds - (time.monotonic() - began)))


def _save_into(options: argparse.Namespace) -> None:
    """One round of the service: save, then remove the oldest. A failed round is reported, and removes nothing."""
    from tools.client.quorum import NoLeader
    from tools.offline.backups import BadBackup
    from tools.offline.saved_copy import CopyExists

    for left in os.listdir(options.target) if not options.dry_run else ():  # noqa: PTH208
        if _UNFINISHED.fullmatch(left):
            shutil.rmtree(f"{options.target}/{left}", ignore_errors=True)
    name = f"{options.target}/{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    try:
        manifest = _make(options, f"{name}.new")
        if manifest is None:
            return
        os.rename(f"{name}.new", f"{name}-{manifest.end_offset}")  # noqa: PTH104
    except (NoLeader, BadBackup, CopyExists, OSError) as error:
        print(f"kraftctl backup save: {plain_text(error)}", file=sys.stderr, flush=True)
        return
    _say_result(options, f"{name}-{manifest.end_offset}", manifest)
    if options.keep is not None:
        _remove_oldest(options.target, os.path.basename(f"{name}-{manifest.end_offset}"), options.keep - 1)  # noqa: PTH119


def _remove_oldest(target: str, made: str, keep: int) -> None:
    """Remove all backups of the service but `made` and the newest `keep` of the others, by epoch and end offset.

    The names begin with a time, which may have been wrong. A backup without a manifest is left alone.
    """
    from tools.offline.backups import BadBackup, read_manifest

    others = []
    for one in os.listdir(target):  # noqa: PTH208
        if _OWN.fullmatch(one) and one != made:
            with suppress(BadBackup, OSError):
                manifest = read_manifest(f"{target}/{one}")
                others.append((manifest.epoch, manifest.end_offset, one))
    others.sort(reverse=True)
    for _, _, old in others[keep:]:
        shutil.rmtree(f"{target}/{old}")


def _lock_service(target: str) -> None:
    """Lock the directory of the backups until this process ends. Raises CopyExists where another service has it."""
    import fcntl

    from tools.offline.saved_copy import CopyExists

    handle = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise CopyExists(f"{target}: another `backup save --every` runs for this directory") from None


def _save_once(options: argparse.Namespace, target: str) -> int:
    manifest = _make(options, target)
    if manifest is not None:
        _say_result(options, target, manifest)
    return 0


def _make(options: argparse.Namespace, target: str) -> Manifest | None:
    """One backup; None for a dry run. An unfinished one is removed."""
    from tools.offline.saved_copy import CopyExists

    if os.path.lexists(target):
        raise CopyExists(f"{target} is there already; name another directory")
    now_ms = int(time.time() * 1000)
    try:
        if options.directory is not None:
            from tools.offline.backups import check_source, save_directory
            from tools.offline.examined import examine, partition_of

            with hold_unused(partition_of(options.directory)[0]):
                examined = examine(options.directory)
                if options.dry_run:
                    check_source(examined)
                    return None
                return save_directory(examined, target, now_ms)
        from tools.client.quorum import look
        from tools.client.quorum_options import addresses_of, security_of
        from tools.kraftctl.backup.live_copy import save_live

        addresses, security = addresses_of(options), security_of(options)
        if options.dry_run:
            look(addresses, "kraftctl-backup", security=security)
            return None
        return save_live(target, addresses, WAIT_S, security, now_ms)
    except CopyExists:
        raise
    except BaseException:
        shutil.rmtree(f"{target}.part", ignore_errors=True)
        raise


def _say_result(options: argparse.Namespace, target: str, manifest: Manifest) -> None:
    if options.json:
        print(json.dumps({"backup": target, **_as_json(manifest)}), flush=True)
    else:
        say(f"{target}: cluster {manifest.cluster_id}, offsets below {manifest.end_offset}", flush=True)


def _as_json(manifest: Manifest) -> dict[str, Any]:
    return {**manifest._asdict(), "files": {name: digest._asdict() for name, digest in manifest.files.items()}}


def _verify(options: argparse.Namespace) -> int:
    from tools.offline.backups import verify_backup

    with Progress("replaying", 0) as progress:
        manifest, _ = verify_backup(options.backup, progress.show)
    if options.json:
        print(json.dumps(_as_json(manifest)))
    else:
        say(f"cluster {manifest.cluster_id}, offsets {manifest.start_offset} to {manifest.end_offset} (exclusive)")
        print(colour_text("the backup is whole, and every record can be replayed", GREEN))
    return 0


def _restore(options: argparse.Namespace) -> int:
    from controller.config.values.listeners import host_and_port
    from records.java.config_error import ConfigError
    from tools.config_file import read_config
    from tools.kraftctl.recovery_steps import steps
    from tools.offline.backups import verify_backup
    from tools.offline.restoring import plan_restoring, restore
    from tools.rng import random_bits

    address = None if options.address is None else host_and_port(options.address)
    if options.address is not None and address is None:
        raise ConfigError(f"--address {options.address}: HOST:PORT is expected")
    with Progress("replaying", 0) as progress:
        manifest, examined = verify_backup(options.backup, progress.show)
    config = read_config(options.config)
    as_of = examined.end_offset if options.as_of is None else _offset(options.as_of, examined)
    plan = plan_restoring(options.backup, manifest, examined, config, as_of, address)
    if not options.json:
        say(f"restore cluster {plan.cluster_id} as of offset {plan.end_offset} for node {plan.node_id}")
        print(f"left out: {plan.lost} offsets of the backup; new epoch: {plan.new_epoch}")
        say(f"directories: {', '.join(plan.directories)}")
        print(
            colour_text(
                "stop each broker, and remove its __cluster_metadata-0, which has records of the former log", YELLOW
            )
        )
        if plan.new_kraft_version != plan.kraft_version:
            print("the static voters become dynamic (kraft.version 1); no way leads back")
        print("topics made after the backup are strays on the brokers; topics deleted since return without their data")
    if not options.dry_run:
        restore(plan, random_bits, int(time.time() * 1000))
    # A static voter that the configuration names alone was alone, or is made so on purpose.
    then = (
        steps(plan.node_id, plan.cluster_id, plan.others, plan.endpoints, is_dynamic=True)
        if plan.new_kraft_version
        else ["1. Start the node."]
    )
    if options.json:
        endpoints = [each._asdict() for each in plan.endpoints]
        said = {**plan._asdict(), "endpoints": endpoints, "dry_run": options.dry_run, "done": not options.dry_run}
        print(json.dumps({**said, "steps": then}))
    else:
        print(
            "dry run: nothing was written; then:"
            if options.dry_run
            else colour_text("done; now, in this order:", GREEN)
        )
        print("\n".join(then))
    return 0


def _offset(text: str, examined: Any) -> int:
    """The offset that --as-of means. Raises ConfigError."""
    from records.java.config_error import ConfigError
    from tools.kraftctl.points.points import NoPoint, parse_point
    from tools.offline.backups import offset_at

    try:
        point = parse_point(text, int(time.time() * 1000))
    except NoPoint as error:
        raise ConfigError(f"--as-of {error}") from None
    if point.time_ms is not None:
        return offset_at(examined, point.time_ms)
    return int(examined.end_offset if point.offset is None else point.offset)


def _export(options: argparse.Namespace) -> int:
    from records.java.config_error import ConfigError
    from tools.kraftctl.backup.export_script import PARTS, script
    from tools.offline.live_directory import LiveDirectory

    parts = PARTS if options.only is None else tuple(options.only.split(","))
    if not set(parts) <= set(PARTS):
        raise ConfigError(f"--only {options.only}: of {', '.join(PARTS)}")
    _check_source(options.backup)
    image = LiveDirectory(options.backup).update()
    lines = list(script(image, parts))
    if options.json:
        print(json.dumps({"end_offset": image.last_offset + 1, "lines": lines}))
    else:
        print(f"#!/bin/sh\n# metadata below offset {image.last_offset + 1}\nset -eu")
        # A shell that reads the script needs each byte; a terminal must not obey them.
        if sys.stdout.isatty():
            say(*lines)
        else:
            unwrap_stream(sys.stdout).write("".join(f"{line}\n" for line in lines))
    return 0


def _check_source(directory: str) -> None:
    """Check a backup, or a log directory. Raises BadBackup."""
    from tools.offline.backups import MANIFEST, BadBackup, check_backup
    from tools.offline.examined import examine

    if os.path.lexists(f"{directory}/{MANIFEST}"):
        check_backup(directory)
    elif (fault := examine(directory).fault) is not None:
        raise BadBackup(str(fault))


def _seconds(text: str) -> float:
    from records.java.config_error import ConfigError

    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS_S or not (number.isascii() and number.isdigit()) or not 0 < int(number) < 100_000:
        raise ConfigError(f"--every {text}: a number with s, m, h or d is expected, such as 5m")
    return float(int(number) * _UNITS_S[unit])
