"""`kraftctl recover measure | plan | apply`: a quorum from a surviving minority of the voters."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import ExitStack

from records.plain_text import plain_text
from tools.command_line.progress import Progress
from tools.kraftctl.plain_streams import GREEN, RED, YELLOW
from tools.kraftctl.terminal import add_verb, colour_text, parser, say
from tools.offline.lock import DirectoryLocked, hold_unused

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tools.offline.examined import Examined

CANNOT_PREVENT = (
    "A recovery from a minority may lose acknowledged writes, and cannot stop the lost voters from electing a leader "
    "of their own if a majority of them returns."
)


def run(arguments: list[str]) -> int:
    """Exit code 0: measured, planned or applied. 1: refused, nothing was changed. 2: a directory is damaged."""
    options = arguments_parser().parse_args(arguments)
    from raft.storage.errors import StorageError
    from records.java.config_error import ConfigError
    from tools.offline.examined import NotALog
    from tools.offline.recovery_plan import CannotRecover
    from tools.offline.saved_copy import CopyExists

    try:
        return {"measure": _measure, "plan": _plan, "apply": _apply}[options.verb](options)
    except (CannotRecover, ConfigError, NotALog, DirectoryLocked, CopyExists, StorageError, OSError) as error:
        print(f"kraftctl recover {options.verb}: {plain_text(error)}", file=sys.stderr)
        return 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl recover",
        f"A quorum from a surviving minority of the voters.\n{CANNOT_PREVENT}\n"
        "All survivors are stopped. Exit code 0: done; 1: refused, and nothing was changed; 2: a directory is damaged.",
        "kraftctl recover plan --output plan.json /copies/node-1 /copies/node-2",
        "kraftctl recover apply plan.json --dry-run",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="measure | plan | apply")
    measure = add_verb(
        verbs, "measure", "compare the logs of the survivors",
        "Compare the logs of the survivors, and name the best. Nothing is changed.",
        "kraftctl recover measure /var/lib/kafka/metadata",
        "kraftctl recover measure /copies/node-1 /copies/node-2 --json",
    )  # fmt: skip
    plan = add_verb(
        verbs, "plan", "write a plan for the best survivor",
        "Write a plan that makes the best survivor the only voter. No directory is changed.",
        "kraftctl recover plan --output plan.json /var/lib/kafka/metadata",
        "kraftctl recover plan --output plan.json --address c1.new.example:9093 /copies/node-1 /copies/node-2",
        "kraftctl recover plan --output plan.json -c controller.properties /var/lib/kafka/metadata  # static voters",
    )  # fmt: skip
    apply = add_verb(
        verbs, "apply", "do what a plan says, after a backup",
        "Append the voter set of a plan to the log of its directory, at a higher epoch, after a copy of\n"
        "the directory was made. Refused if the directory is in use, or has changed since the plan was made.",
        "kraftctl recover apply plan.json --dry-run",
        "kraftctl recover apply plan.json --backup /backup/node-1",
    )  # fmt: skip
    for verb in (measure, plan):
        verb.add_argument("directories", metavar="DIR", nargs="+", help="the log directory of a survivor, or a copy")
    plan.add_argument("--output", metavar="FILE", required=True, help="the plan, a new file")
    plan.add_argument("--address", metavar="HOST:PORT", help="of the new voter (default: as in the old voter set)")
    plan.add_argument(
        "-c",
        "--config",
        metavar="FILE",
        help="of the survivor: needed with static voters, or where its log does not have it as a voter",
    )
    plan.add_argument(
        "--static-voters", type=int, metavar="N", help="with static voters, without -c: how many there were"
    )
    plan.add_argument(
        "--keep-static", action="store_true",
        help="with static voters: leave kraft.version at 0; the voter is then the only one until "
        "`kraftctl quorum migrate --to dynamic`",
    )  # fmt: skip
    apply.add_argument("plan", metavar="PLAN", help="the file that `plan` wrote")
    apply.add_argument("--directory", metavar="DIR", help="the same directory elsewhere (default: that of the plan)")
    apply.add_argument("--backup", metavar="NEW_DIR", help="where the copy is made (default: DIR.backup-TIME)")
    for verb in (plan, apply):
        verb.add_argument("--dry-run", action="store_true", help="check and print everything, and write nothing")
    for verb in (measure, plan, apply):
        verb.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _examine(directories: list[str]) -> list[Examined]:
    """All directories, none of which may be in use."""
    from tools.offline.examined import examine, partition_of

    logs = []
    with ExitStack() as locks:
        for directory in directories:
            locks.enter_context(hold_unused(partition_of(directory)[0]))
        with Progress("reading", len(directories)) as note:
            for number, directory in enumerate(directories, 1):
                logs.append(examine(directory))
                note(number)
    return logs


def _measure(options: argparse.Namespace) -> int:
    from tools.offline.recovery_plan import CannotRecover, best_of

    measured = _examine(options.directories)
    try:
        best = best_of(measured).log_directory
    except CannotRecover:
        best = None
    if options.json:
        print(json.dumps({"warning": CANNOT_PREVENT, "best": best, "directories": [_row(one) for one in measured]}))
    else:
        print(colour_text(CANNOT_PREVENT, YELLOW))
        for examined in measured:
            say(*_measured_lines(examined, is_best=examined.log_directory == best))
    return 0 if all(examined.fault is None for examined in measured) else 2


def _row(examined: Examined) -> dict[str, Any]:
    from records.uuids import uuid_text
    from tools.offline.recovery_plan import election_epoch

    mark = examined.mark
    return {
        "directory": examined.log_directory,
        "node_id": None if mark is None else mark.node_id,
        "cluster_id": None if mark is None else mark.cluster_id,
        "directory_id": None if mark is None or mark.directory_id is None else uuid_text(mark.directory_id),
        "epoch": examined.epoch,
        "end_offset": examined.end_offset,
        "election_epoch": election_epoch(examined),
        "committed_at_least": examined.committed,
        "kraft_version": examined.kraft_version,
        "voters": None if examined.voters is None else list(examined.voters.ids),
        "fault": None if examined.fault is None else examined.fault._asdict(),
    }


def _measured_lines(examined: Examined, *, is_best: bool) -> list[str]:
    row = _row(examined)
    voters = "in the configuration" if row["voters"] is None else ", ".join(map(str, row["voters"]))
    mark = colour_text("  <- the best log", GREEN) if is_best else ""
    end = f"last epoch {examined.epoch}, end offset {examined.end_offset}"
    lines = [
        f"{examined.log_directory}: node {row['node_id']} of cluster {row['cluster_id']}{mark}",
        f"  {end}, committed at least below {examined.committed}, highest epoch known {row['election_epoch']}",
        f"  kraft.version {examined.kraft_version}, voters: {voters}",
    ]
    if examined.fault is not None:
        lines.append(colour_text(f"  damaged: {examined.fault}", RED))
    return lines


def _plan(options: argparse.Namespace) -> int:
    from controller.config.values.listeners import host_and_port
    from raft.storage.files import OsFiles
    from records.java.config_error import ConfigError
    from tools.config_file import read_config
    from tools.kraftctl.recovery_steps import plan_lines
    from tools.offline.recovery_plan import best_of, make_plan, plan_text
    from tools.offline.saved_copy import CopyExists, digests

    address = None if options.address is None else host_and_port(options.address)
    if options.address is not None and address is None:
        raise ConfigError(f"--address {options.address}: HOST:PORT is expected")
    config = None if options.config is None else read_config(options.config)
    advertised = None if config is None else config.advertised_listeners[0]
    keeps_static = options.keep_static or config is None
    measured = _examine(options.directories)
    plan = make_plan(
        measured, digests(best_of(measured).log_directory), address=address, voters_count=options.static_voters,
        static_voters=None if config is None else config.voters,
        advertised=None if advertised is None or not advertised.host else (advertised.host, advertised.port),
        listener="" if keeps_static or config is None else config.controller_listener_names[0].upper(),
    )  # fmt: skip
    text = plan_text(plan, int(time.time() * 1000))
    if not options.dry_run:
        if os.path.lexists(options.output):
            raise CopyExists(f"{options.output} is there already; name another file")
        from raft.storage.files import replace_file

        replace_file(OsFiles(), os.path.abspath(options.output), text.encode())  # noqa: PTH100 - pathlib costs 10 ms
    if options.json:
        print(json.dumps({**json.loads(text), "dry_run": options.dry_run}))
    else:
        say(*plan_lines(plan))
        print("dry run: no plan was written" if options.dry_run else f"plan: {options.output}")
        print(f"next: kraftctl recover apply {options.output} --dry-run, and then without --dry-run")
    return 0


def _apply(options: argparse.Namespace) -> int:
    from raft.storage.directory_lock import DirectoryLock
    from raft.storage.files import OsFiles, read_whole
    from tools.kraftctl.recovery_steps import plan_lines, steps
    from tools.offline.examined import examine, partition_of
    from tools.offline.forced_voters import force_voter
    from tools.offline.recovery_plan import PLAN_BYTES_MAX, CannotRecover, parse_plan
    from tools.offline.saved_copy import copy_name, digests, save_copy

    try:
        text = read_whole(OsFiles(), options.plan, PLAN_BYTES_MAX).decode()
    except UnicodeDecodeError:
        raise CannotRecover(f"{options.plan} is not a text file in UTF-8") from None
    plan = parse_plan(text)
    if options.directory is not None:
        plan = plan._replace(directory=partition_of(options.directory)[0])
    with ExitStack() as held:
        if options.dry_run:
            held.enter_context(hold_unused(plan.directory))
        else:
            held.callback(DirectoryLock(OsFiles(), plan.directory).release)
        examined = examine(plan.directory)
        now = digests(plan.directory)
        changed = sorted(name for name in {*now, *plan.files} if now.get(name) != plan.files.get(name))
        if (
            changed
            or examined.fault is not None
            or (examined.end_offset, examined.epoch) != (plan.end_offset, plan.epoch)
        ):
            what = ", ".join(changed) or str(examined.fault)
            raise CannotRecover(f"{plan.directory} has changed since the plan was made: {what}; make a new plan")
        backup = options.backup or copy_name(plan.directory, time.time())
        if not options.json:
            say(*plan_lines(plan))
            say(f"backup: {backup}")
        if not options.dry_run:
            with Progress("copying", sum(digest.size for digest in now.values())) as note:
                save_copy(plan.directory, backup, note)
            force_voter(examined, plan.voter, plan.new_epoch, int(time.time() * 1000), plan.new_kraft_version)
    then = steps(
        plan.node_id, plan.cluster_id, (*plan.old_voters, *plan.survivors), plan.voter.endpoints,
        is_dynamic=plan.new_kraft_version > 0,
    )  # fmt: skip
    if options.json:
        said = {"directory": plan.directory, "node_id": plan.node_id, "new_epoch": plan.new_epoch, "backup": backup}
        done = {"dry_run": options.dry_run, "done": not options.dry_run, "steps": then}
        print(json.dumps({"warning": plan.warning, **said, **done}))
        return 0
    print("dry run: nothing was changed; then:" if options.dry_run else colour_text("done; now, in this order:", GREEN))
    print("\n".join(then))
    return 0
