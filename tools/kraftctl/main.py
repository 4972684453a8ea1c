"""`kraftctl VERB …`: imports the verb's module and no other."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# By verb: its module, relative to this package, and its help text.
VERBS = {
    "start": (".run.start", "run one node from a controller.properties"),
    "container": (".run.container", "run one node in a container, configured by its environment"),
    "status": (".cluster.status", "show the leader and each voter; without a leader, each node's own view"),
    "quorum": (
        ".cluster.quorum_verbs",
        "show the voters, compare their logs, replace one, make static voters dynamic",
    ),
    "autopilot": (".cluster.autopilot", "show what the autopilot knows and does next; pause and resume it"),
    "controllers": (".cluster.controllers", "take one out of the voters; remove registrations of those that are gone"),
    "wait": (".cluster.wait", "wait until a quorum has a leader and its voters have caught up"),
    "topic": (".cluster.topic", "alter partitions, replicas and configs of a topic"),
    "log": (".repair.log", "verify, replay or truncate the metadata log of a stopped node"),
    "backup": (".backup.backup", "save, verify, restore or export the metadata"),
    "recover": (".repair.recover", "make a quorum from a surviving minority of the voters"),
    "at": (".history.at", "show the metadata as it was at an offset or a time"),
    "diff": (".history.diff", "show what is different between two points, files or quorums"),
    "history": (".history.history", "show what changed: of a topic, a broker, a partition, a config"),
    "watch": (".history.watch", "print changes of the metadata as they commit"),
    "bench": (".bench.bench", "measure latency and rate of a quorum, beside what to expect"),
    "doctor": (".doctor.doctor", "examine a node, running or not: what is wrong, and the remedy"),
    "debug": (".debug.debug", "collect what a ticket needs in one archive, without secrets"),
    "rehearse": (".rehearse", "play the loss of nodes, sites and links, in simulated time"),
    "features": (".cluster.features", "check which nodes block a feature level"),
    "completion": (".completion", "print a script that completes commands in bash, zsh or fish"),
    "manual": (".manual", "write a manual page for each command"),
    "probe": (".run.probe", "ask this machine's node whether it is live, started or ready"),
    "up": (".run.up", "run a quorum of three controllers on this machine"),
}

# The verbs that become a node, whose log escapes texts itself (`controller/node/logging/logs.py`).
NODES, CHECK = ("start", "container"), "--check"
# Its nodes are stopped, and it says so, when nobody reads it any more.
UP, STATUS = "up", "--status"


def usage() -> str:
    lines = ["usage: kraftctl VERB [-h] … | --version", "", "verbs:"]
    lines += [f"  {verb:<11} {what}" for verb, (_, what) in VERBS.items()]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run a verb and return its exit code; for an unknown verb, usage on stderr and 1."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] in NODES and CHECK not in given:
        return int(_verb(given[0])(given[1:]))
    from tools.kraftctl.plain_streams import PlainStreams

    with PlainStreams(has_reader=given[:1] != [UP] or STATUS in given):
        return _run(given)


def _verb(name: str) -> Callable[[list[str]], int]:
    from importlib import import_module

    run: Callable[[list[str]], int] = import_module(VERBS[name][0], __package__).run
    return run


def _run(given: list[str]) -> int:
    if given and given[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0
    if given == ["--version"]:
        from records.release import version_text

        print(version_text("kraftctl"))
        return 0
    if not given or given[0] not in VERBS:
        what = f"kraftctl: there is no verb {given[0]!r}\n\n" if given else ""
        print(what + usage(), file=sys.stderr)
        return 1
    return int(_verb(given[0])(given[1:]))


if __name__ == "__main__":
    sys.exit(main())
