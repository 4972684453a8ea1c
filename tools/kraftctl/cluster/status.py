"""`kraftctl status`: the leader, the offset and lag of each voter, problems; without a leader, each node's own view."""

from __future__ import annotations

import argparse
import json
import sys

from records.java.config_error import ConfigError
from records.plain_text import plain_text
from tools.client.quorum import NoLeader, Refused, look_in_parallel
from tools.client.quorum_options import add_quorum_options, addresses_of, known_nodes, security_of
from tools.config_file import read_config
from tools.kraftctl.nodes.http_page import add_caller_options, caller_of
from tools.kraftctl.nodes.node_status import ASK_S, ask_all
from tools.kraftctl.terminal import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tools.client.quorum import Member, View
    from tools.kraftctl.nodes.http_page import Counts
    from tools.kraftctl.nodes.node_status import NodeStatus

# A voter that has not fetched from the leader for this time is missing: one that lives does so twice a second.
SILENT_MS = 3_000
DESCRIPTION = (
    "The leader, the offset and lag of each voter, and the problems that nodes report. Without a leader: each node's "
    "own role, epoch, leader, log end and last error. Where a node has an HTTP port: fenced brokers, and partitions "
    "that are offline or under-replicated. Exit code 0: all voters fetch, and no broker or partition is in trouble; "
    "1: one is, or this client is refused; 2: there is no leader."
)
FIELDS = ("cluster_id", "leader_id", "epoch", "high_watermark")


def run(arguments: list[str]) -> int:
    """Exit code 0: a leader answers, every voter fetches, no broker is fenced, and no partition lacks a replica.

    1: one of these is not so, the client is refused, or the options are wrong.

    2: there is no leader. With --field, 0 whenever a leader answers.
    """
    return show(arguments_parser().parse_args(arguments), "status")


def show(options: argparse.Namespace, verb: str) -> int:
    """Print the state of the quorum, as `run` does, by parsed options. verb: for errors."""
    try:
        addresses, known, caller = addresses_of(options), known_nodes(options), caller_of(options)
        if options.config is not None:
            caller = caller.or_of(read_config(options.config))
        security = security_of(options)
        view = look_in_parallel(addresses, "kraftctl-status", ASK_S, security)
    except Refused as error:
        reason = f"a node does not accept this client, or the client does not accept the node: {error}"
        print(f"kraftctl {verb}: {plain_text(reason)}", file=sys.stderr)
        return 1
    except NoLeader as error:
        if options.field:
            print(f"kraftctl {verb}: no leader: {plain_text(error)}", file=sys.stderr)
        else:
            _show_nodes(ask_all(addresses, known, caller, security), as_json=options.json)
        return 2
    except (ConfigError, OSError) as error:
        print(f"kraftctl {verb}: {plain_text(error)}", file=sys.stderr)
        return 1
    said = as_json(view)
    counts = None
    if not options.field:
        # A node that does not answer is in the table already.
        nodes = ask_all(addresses, known, caller, security)
        said["problems"] = [{"node_id": node.node_id, "text": text} for node in nodes for text in node.problems]
        counts = _best_counts(nodes, view.leader_id)
        said["counts"] = None if counts is None else counts._asdict()
    if options.json:
        print(json.dumps(said))
    elif options.field == "voters":
        print(" ".join(str(number) for number in sorted(view.voters)))
    elif options.field:
        say(str(said[options.field]))
    else:
        problems = (f"node {one['node_id']}: {one['text']}" for one in said["problems"])
        say(*table(view), *_counts_lines(counts), *problems)
    return 1 if not options.field and (missing(view) or _counts_lines(counts)) else 0


def _best_counts(nodes: list[NodeStatus], leader_id: int) -> Counts | None:
    """The counts of the leader, else of another node that has them."""
    counts = {node.node_id: node.counts for node in nodes if node.counts is not None}
    return counts.get(leader_id) or next(iter(counts.values()), None)


def _counts_lines(counts: Counts | None) -> list[str]:
    """What is wrong with brokers and partitions; empty if nothing is, or nothing is known."""
    if counts is None:
        return []
    fenced = ", ".join(map(str, counts.fenced_brokers))
    more = ", ..." if counts.fenced_brokers_in_all > len(counts.fenced_brokers) else ""
    rows = (
        (counts.fenced_brokers_in_all, f"fenced brokers: {counts.fenced_brokers_in_all} ({fenced}{more})"),
        (counts.offline_partitions, f"offline partitions: {counts.offline_partitions}"),
        (counts.under_replicated_partitions, f"under-replicated partitions: {counts.under_replicated_partitions}"),
    )
    return [text for count, text in rows if count]


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    parser = argparse.ArgumentParser(
        prog="kraftctl status",
        description=DESCRIPTION,
        epilog="examples:\n  kraftctl status --bootstrap-controller c1:9093,c2:9093,c3:9093\n"
        "  kraftctl status -c /etc/kafka/controller.properties --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_status_options(parser)
    return parser


def add_status_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kraftctl status` and `kraftctl quorum status`."""
    add_quorum_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--field", choices=(*FIELDS, "voters"), help="print only this value, for scripts")
    add_caller_options(parser, "the HTTP port")


def missing(view: View) -> list[int]:
    """The voters that have not fetched from the leader for 3 s, or never."""
    now_ms = leader_now_ms(view)
    others = [member for number, member in view.voters.items() if number != view.leader_id]
    return [
        member.id
        for member in others
        if member.last_fetch_ms < 0 or (now_ms >= 0 and now_ms - member.last_fetch_ms > SILENT_MS)
    ]


def is_silent(view: View, replica: dict[str, Any]) -> bool:
    """Whether a row of `as_json` has not fetched from the leader for 3 s, or never."""
    ago = replica["fetched_ago_ms"]
    return replica["role"] != "leader" and leader_now_ms(view) >= 0 and (ago is None or ago > SILENT_MS)


def _show_nodes(nodes: list[NodeStatus], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"leader_id": None, "nodes": [node._asdict() for node in nodes]}))
        return
    rows: list[tuple[str, ...]] = [("node", "address", "role", "epoch", "leader", "log end", "last error")]
    for node in nodes:
        lasts = "" if node.lasts_ms is None else f" (for {node.lasts_ms / 1000:.0f} s)"
        cells = (node.node_id, node.address, node.role, node.epoch, node.leader_id, node.end_offset)
        rows.append((*("-" if cell is None else str(cell) for cell in cells), f"{node.error or '-'}{lasts}"))
    print("no leader; each node's own view:")
    say(*_align(rows))


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    rows = [tuple(map(plain_text, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def as_json(view: View) -> dict[str, Any]:
    """The view as JSON. lag: records, null if unknown. *_ago_ms: by the leader's clock."""
    return {
        "cluster_id": view.cluster_id,
        "leader_id": view.leader_id,
        "epoch": view.epoch,
        "high_watermark": view.high_watermark,
        "end_offset": view.end_offset,
        "voters": [_replica(view, member, "follower") for _, member in sorted(view.voters.items())],
        "observers": [_replica(view, member, "observer") for _, member in sorted(view.observers.items())],
    }


def _replica(view: View, member: Member, role: str) -> dict[str, Any]:
    """role: unless it leads. An observer may have the id of a voter, as the former directory of a replaced one has."""
    now_ms = leader_now_ms(view)
    is_leader = member.id == view.leader_id and role == "follower"
    return {
        "id": member.id,
        "role": "leader" if is_leader else role,
        "directory_id": member.directory_id or None,
        "end_offset": member.end_offset if member.end_offset >= 0 else None,
        "lag": view.lag(member),
        "fetched_ago_ms": None if is_leader else _since(now_ms, member.last_fetch_ms),
        "caught_up_ago_ms": _since(now_ms, member.caught_up_ms),
    }


def leader_now_ms(view: View) -> int:
    """The leader's clock when it answered, which is its own last-caught-up time; -1 if unknown."""
    leader = view.voters.get(view.leader_id)
    return -1 if leader is None else leader.caught_up_ms


def _since(now_ms: int, then_ms: int) -> int | None:
    return None if now_ms < 0 or then_ms < 0 else max(0, now_ms - then_ms)


def table(view: View) -> list[str]:
    """The view as text: one line for the quorum, then one for each replica."""
    rows: list[tuple[str, ...]] = [("node", "role", "log end", "lag", "last fetch", "directory")]
    for kind in ("voters", "observers"):
        for replica in as_json(view)[kind]:
            ago = replica["fetched_ago_ms"]
            rows.append(
                (
                    str(replica["id"]),
                    f"{replica['role']}, silent" if is_silent(view, replica) else replica["role"],
                    _text(replica["end_offset"]),
                    _text(replica["lag"]),
                    "-" if ago is None else f"{ago} ms ago",
                    replica["directory_id"] or "-",
                )
            )
    first = (
        f"cluster {view.cluster_id or '-'}: node {view.leader_id} leads epoch {view.epoch}, "
        f"high watermark {view.high_watermark}"
    )
    return [first, *_align(rows)]


def _text(value: int | None) -> str:
    return "unknown" if value is None else str(value)
