"""`kraftctl log verify | replay | truncate`: checking the metadata log of a stopped node, and removing its end."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext

from records.plain_text import plain_text
from tools.command_line.progress import Progress
from tools.kraftctl.plain_streams import GREEN, RED, YELLOW
from tools.kraftctl.terminal import add_verb, colour_text, parser, say
from tools.offline.lock import DirectoryLocked, hold_unused

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tools.offline.examined import Examined, Fault
    from tools.offline.replayed import Replayed
    from tools.offline.truncation import Truncation

DIRECTORY_HELP = "the log directory of a controller or broker: metadata.log.dir, or else the first of log.dirs"


def run(arguments: list[str]) -> int:
    """Exit code 0: the log is sound, or was truncated. 1: it could not be checked or truncated. 2: it has a fault."""
    options = arguments_parser().parse_args(arguments)
    from raft.storage.errors import StorageError
    from tools.offline.examined import NotALog
    from tools.offline.log_file import DamagedLog
    from tools.offline.saved_copy import CopyExists
    from tools.offline.truncation import CannotTruncate

    try:
        return _truncate(options) if options.verb == "truncate" else _check(options)
    except (NotALog, DirectoryLocked, CannotTruncate, CopyExists, DamagedLog, StorageError, OSError) as error:
        print(f"kraftctl log {options.verb}: {plain_text(error)}", file=sys.stderr)
        return 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl log",
        "Check the metadata log of a stopped node, and remove its end. Exit code 0: sound, or truncated; 1: not\n"
        "checked, or not truncated; 2: a fault was found, which is named with its file, byte and offset.",
        "kraftctl log replay /var/lib/kafka/metadata",
        "kraftctl log truncate /var/lib/kafka/metadata --to 4711 --dry-run",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="verify | replay | truncate")
    verify = add_verb(
        verbs, "verify", "check files, CRCs, offsets and epochs",
        "Check all files: checkpoints to their footers, and of the log the CRC, the offsets and the\n"
        "epochs of each batch. Nothing is changed.",
        "kraftctl log verify /var/lib/kafka/metadata",
        "kraftctl log verify /var/lib/kafka/metadata --json",
    )  # fmt: skip
    replay = add_verb(
        verbs, "replay", "verify, then replay every record as a controller does",
        "Verify, then decode and replay every record as a controller does, and compare each checkpoint\n"
        "with the log below it. Names the first record that cannot be replayed. Nothing is changed.",
        "kraftctl log replay /var/lib/kafka/metadata",
        "kraftctl log replay /var/lib/kafka/metadata --json",
    )  # fmt: skip
    truncate = add_verb(
        verbs, "truncate", "remove the end of the log, after a backup",
        "Remove the batches that hold offsets at or above --to, after a copy of the directory was made.\n"
        "Records that are known to be committed are removed only with --lose-committed.",
        "kraftctl log truncate /var/lib/kafka/metadata --dry-run",
        "kraftctl log truncate /var/lib/kafka/metadata --to 4711 --lose-committed --backup /backup/node-1",
    )  # fmt: skip
    for verb in (verify, replay, truncate):
        verb.add_argument("directory", metavar="DIR", help=DIRECTORY_HELP)
        verb.add_argument("--json", action="store_true", help="print one JSON object")
    truncate.add_argument(
        "--to", type=int, metavar="OFFSET", help="the new end of the log (default: the first fault that `replay` finds)"
    )
    truncate.add_argument("--backup", metavar="NEW_DIR", help="where the copy is made (default: DIR.backup-TIME)")
    truncate.add_argument("--lose-committed", action="store_true", help="remove records although they are committed")
    truncate.add_argument("--dry-run", action="store_true", help="print the plan and change nothing")
    return top


def _check(options: argparse.Namespace) -> int:
    from tools.offline.examined import partition_of

    with hold_unused(partition_of(options.directory)[0]):
        examined, replayed = _examine(options.directory, replays=options.verb == "replay")
    fault = _first(examined, replayed)
    if options.json:
        print(json.dumps(_as_json(examined, replayed)))
    else:
        say(*_lines(examined, replayed))
        if fault is None:
            print(colour_text("no fault", GREEN))
        else:
            print(colour_text(f"first fault: {fault}", RED))
    return 0 if fault is None else 2


def _examine(directory: str, *, replays: bool) -> tuple[Examined, Replayed | None]:
    from tools.offline.examined import examine

    examined = examine(directory)
    if not replays:
        return examined, None
    from tools.offline.replayed import Replay, bytes_to_read

    with Progress("replaying", bytes_to_read(examined)) as note:
        return examined, Replay(examined, note).run()


def _first(examined: Examined, replayed: Replayed | None) -> Fault | None:
    """The fault with the lowest offset: a record before the damage may be the one that cannot be replayed."""
    if replayed is not None and replayed.fault is not None:
        return replayed.fault
    return examined.fault


def _as_json(examined: Examined, replayed: Replayed | None) -> dict[str, Any]:
    fault = _first(examined, replayed)
    said: dict[str, Any] = {
        "directory": examined.directory,
        "node_id": None if examined.mark is None else examined.mark.node_id,
        "start_offset": examined.start_offset,
        "end_offset": examined.end_offset,
        "epoch": examined.epoch,
        "committed_at_least": examined.committed,
        "segments": len(examined.segments),
        "checkpoints": [{"end_offset": offset, "epoch": epoch} for offset, epoch in examined.snapshots],
        "torn": None if examined.torn is None else examined.torn._asdict(),
        "fault": None if fault is None else fault._asdict(),
    }
    if replayed is not None:
        said["replayed"] = {
            "start_offset": replayed.start_offset,
            "end_offset": replayed.end_offset,
            "batches": replayed.batches,
            "records": replayed.records,
            "checkpoints_equal": [{"end_offset": offset, "epoch": epoch} for offset, epoch in replayed.compared],
        }
    return said


def _lines(examined: Examined, replayed: Replayed | None) -> list[str]:
    checkpoints = ", ".join(f"{offset}-{epoch}" for offset, epoch in examined.snapshots) or "none"
    offsets = f"offsets {examined.start_offset} to {examined.end_offset} (exclusive)"
    lines = [
        f"log: {offsets}, epoch {examined.epoch}, {len(examined.segments)} segments",
        f"checkpoints: {checkpoints}",
        f"committed: at least the offsets below {examined.committed}",
    ]
    if examined.torn is not None:
        torn = examined.torn
        lines.append(colour_text(f"unfinished append, which a start removes: {torn}", YELLOW))
    if replayed is not None:
        equal = f", {len(replayed.compared)} checkpoints equal the log below them" if replayed.compared else ""
        lines.append(
            f"replayed: offsets {replayed.start_offset} to {replayed.end_offset} (exclusive), {replayed.batches} "
            f"batches, {replayed.records} records{equal}"
        )
    return lines


def _truncate(options: argparse.Namespace) -> int:
    from raft.storage.directory_lock import DirectoryLock
    from raft.storage.files import OsFiles
    from tools.offline.examined import partition_of
    from tools.offline.truncation import CannotTruncate, plan_truncation

    log_directory, _ = partition_of(options.directory)
    # A node must not start in between, so the lock is taken even where no lock file is there yet.
    lock = None if options.dry_run else DirectoryLock(OsFiles(), log_directory)
    try:
        with hold_unused(log_directory) if options.dry_run else nullcontext():
            examined, replayed = _examine(options.directory, replays=options.to is None)
        fault = _first(examined, replayed)
        to = options.to
        if to is None:
            if fault is None:
                raise CannotTruncate("no fault was found; give --to OFFSET to remove the end of a sound log")
            if fault.offset < 0:
                raise CannotTruncate(f"the first fault is not in the log, so a truncation does not help: {fault}")
            to = fault.offset
        plan = plan_truncation(examined, to)
        return _carry_out(options, examined, plan)
    finally:
        if lock is not None:
            lock.release()


def _carry_out(options: argparse.Namespace, examined: Examined, plan: Truncation) -> int:
    from tools.offline.examined import examine
    from tools.offline.saved_copy import copy_name, digests, save_copy
    from tools.offline.truncation import CannotTruncate, truncate

    is_refused = plan.lost_committed > 0 and not options.lose_committed
    backup = options.backup or copy_name(examined.log_directory, time.time())
    if not options.json or (is_refused and not options.dry_run):
        say(*_plan_lines(plan, backup), file=sys.stderr if options.json else sys.stdout)
    if is_refused and not options.dry_run:
        raise CannotTruncate(
            f"{plan.lost_committed} offsets that would be removed are known to be committed; nothing was changed. "
            "Give --lose-committed if they must go"
        )
    if not options.dry_run:
        total = sum(digest.size for digest in digests(examined.log_directory).values())
        with Progress("copying", total) as note:
            save_copy(examined.log_directory, backup, note)
        truncate(plan)
        again = examine(examined.directory)
        assert again.end_offset == plan.end_offset, f"the log ends at {again.end_offset}, not {plan.end_offset}"
    if options.json:
        print(json.dumps({**plan._asdict(), "backup": backup, "dry_run": options.dry_run, "done": not options.dry_run}))
    elif options.dry_run:
        print("dry run: nothing was changed" + ("; it needs --lose-committed" if is_refused else ""))
    else:
        print(colour_text(f"truncated: the log ends at offset {plan.end_offset}", GREEN))
    return 0


def _plan_lines(plan: Truncation, backup: str) -> list[str]:
    lines = [f"truncate {plan.directory} to offset {plan.end_offset}"]
    if plan.end_offset != plan.asked:
        lines.append(f"  (offset {plan.asked} is within a batch, which goes as a whole)")
    unknown = max(0, plan.lost - plan.lost_committed)
    lost = f"lost: {plan.lost} offsets, of which {plan.lost_committed} are known to be committed"
    removed = ", ".join([*plan.snapshots, *plan.segments]) or "no file"
    cut = f"{plan.cut[0]} after byte {plan.cut[1]}" if plan.cut else "no file"
    lines += [
        f"{lost}; of the other {unknown} this directory does not say whether they are",
        f"removed: {removed}; cut: {cut}",
        f"backup: {backup}",
    ]
    if plan.lost:
        lines += [
            "stop every controller, and truncate each to the same offset before any is started: a leader that has the",
            "removed records sends them again.",
            f"stop each broker whose metadata log ends above {plan.end_offset}, and remove its __cluster_metadata-0:",
            "it fetches the log again.",
        ]
    return lines
