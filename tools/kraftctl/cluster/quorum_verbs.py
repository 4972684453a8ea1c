"""`kraftctl quorum status | hash | replace | migrate`: the arguments; each verb's module does the work."""

from __future__ import annotations

from importlib import import_module

from tools.client.quorum_options import add_quorum_options
from tools.kraftctl.cluster.status import DESCRIPTION, add_status_options
from tools.kraftctl.nodes.http_page import add_caller_options
from tools.kraftctl.terminal import add_verb, add_writing_options, parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from tools.kraftctl.terminal import Parser

REPLACE_S = 300.0
LEADER_S = 30.0


def run(arguments: list[str]) -> int:
    """The exit code of the verb."""
    options = arguments_parser().parse_args(arguments)
    if options.verb == "status":
        from tools.kraftctl.cluster.status import show

        return show(options, "quorum status")
    return int(import_module(f".quorum_{options.verb}", __package__).run(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl quorum",
        "Show the voters, compare their logs, replace one that lost its disk, make static voters dynamic.",
        "kraftctl quorum status --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl quorum replace --id 2 --bootstrap-controller c1:9093,c3:9093 --dry-run",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    status = add_verb(
        verbs, "status", "show the leader and each voter, as `kraftctl status`", DESCRIPTION,
        "kraftctl quorum status --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl quorum status -c /etc/kafka/controller.properties --json",
    )  # fmt: skip
    add_status_options(status)
    _add_hash(verbs)
    _add_replace(verbs)
    _add_migrate(verbs)
    return top


def _add_hash(verbs: argparse._SubParsersAction[Parser]) -> None:
    compared = add_verb(
        verbs, "hash", "compare the logs and states of all replicas at one offset",
        "Compare the replicas of a running quorum with its leader, below the highest offset that all of them have:\n"
        "the leader as an observer reads it, each other controller of ours by its HTTP port (/log/OFFSET), and each\n"
        "--directory, of a controller or broker, ours or stock's, running or not. The logs are compared batch by\n"
        "batch; of the leader and the directories the state too, from a checkpoint where the log begins with one.\n"
        "The first difference is named, in a directory the first record. A stock follower serves no records: run this\n"
        "on its machine with --directory.\n"
        "Exit code 0: all voters are equal; 1: one could not be compared; 2: there is a difference.",
        "kraftctl quorum hash --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl quorum hash -c /etc/kafka/controller.properties --directory /var/lib/kafka/broker --json",
    )  # fmt: skip
    add_quorum_options(compared)
    add_caller_options(compared, "the HTTP port")
    compared.add_argument(
        "--directory", action="append", default=[], metavar="DIR",
        help="a log directory of a replica on this machine (repeatable)",
    )  # fmt: skip
    compared.add_argument(
        "--offset", type=int, metavar="OFFSET", help="compare below this one; default: the highest that all have"
    )
    compared.add_argument("--json", action="store_true", help="print one JSON object")


def _add_replace(verbs: argparse._SubParsersAction[Parser]) -> None:
    replace = add_verb(
        verbs, "replace", "replace a voter whose disk is lost by the new directory of the same id",
        "Replace a voter that has lost its disk or host. A controller with the same id and a new directory\n"
        "(kafka-storage format --no-initial-controllers) runs already, or is started while this command waits.\n"
        "It finds the directory id that is lost, removes that voter, waits until the new directory has the\n"
        "committed records, adds it as voter, and checks the result. Each step is taken only if a majority of\n"
        "the resulting voters is alive and has all committed records. It can be run again after an interruption.\n"
        "Exit code 0: replaced, or nothing is to be replaced; 1: not done, nothing was changed; 2: not finished.",
        "kraftctl quorum replace --id 2 --bootstrap-controller c1:9093,c3:9093 --dry-run",
        "kraftctl quorum replace --id 2 -c /etc/kafka/controller.properties --yes --timeout 600",
    )  # fmt: skip
    replace.add_argument("--id", type=int, required=True, metavar="ID", help="the node id of the voter")
    add_quorum_options(replace)
    replace.add_argument(
        "--listener", action="append", default=[], metavar="NAME://HOST:PORT",
        help="an endpoint of the new voter (repeatable; default: the registered one, as in DescribeCluster)",
    )  # fmt: skip
    replace.add_argument(
        "--timeout", type=float, default=REPLACE_S, metavar="SECONDS",
        help="how long to wait until the new directory has started and caught up; default: %(default)s",
    )  # fmt: skip
    add_writing_options(replace)


def _add_migrate(verbs: argparse._SubParsersAction[Parser]) -> None:
    migrate = add_verb(
        verbs, "migrate", "make static voters dynamic: check each node, raise kraft.version, print the configuration",
        "Make the voters of controller.quorum.voters (static) into voters of the log (dynamic, KIP-853). It checks\n"
        "every voter: that it answers, supports kraft.version 1, and has a directory id; then it raises\n"
        "kraft.version to 1 and prints the configuration lines that change on each node. kraft.version cannot be\n"
        "lowered: no way leads back to static voters. Change the configuration afterwards, never before.\n"
        "--verify, after the restart of all nodes, checks that no node has controller.quorum.voters any more.\n"
        "Exit code 0: done; 1: not done, nothing was changed; 2: done, and a node must still be changed.",
        "kraftctl quorum migrate --to dynamic --bootstrap-controller c1:9093,c2:9093,c3:9093 --dry-run",
        "kraftctl quorum migrate --to dynamic -c /etc/kafka/controller.properties --verify",
    )  # fmt: skip
    migrate.add_argument("--to", choices=("dynamic",), required=True, help="the kind of voter set to change to")
    add_quorum_options(migrate)
    migrate.add_argument(
        "--check", action="append", default=[], metavar="FILE",
        help="also check this controller.properties of this machine, and its directory (repeatable)",
    )  # fmt: skip
    migrate.add_argument("--verify", action="store_true", help="check the nodes after their restart; write nothing")
    migrate.add_argument(
        "--timeout", type=float, default=LEADER_S, metavar="SECONDS",
        help="how long to wait until the leader has the directory ids; default: %(default)s",
    )  # fmt: skip
    add_writing_options(migrate)
