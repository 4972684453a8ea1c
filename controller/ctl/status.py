"""`kraftctl status`: the leader, and the offset and lag of each voter, as a table, as JSON, or one field."""

from __future__ import annotations

import argparse
import json
import sys

from controller.config.values.definition import ConfigError
from controller.ctl.quorum import NoQuorum, add_quorum_options, addresses_of, look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from controller.ctl.quorum import Member, View

FIELDS = ("cluster", "leader", "epoch", "high_watermark")


def run(arguments: list[str]) -> int:
    """Exit code 0 if a leader answers; else 1, with one line on stderr."""
    parser = argparse.ArgumentParser(prog="kraftctl status", description=__doc__)
    add_quorum_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--field", choices=(*FIELDS, "voters"), help="print only this value, for scripts")
    options = parser.parse_args(arguments)
    try:
        view = look(addresses_of(options), "kraftctl-status")
    except (ConfigError, OSError) as error:
        print(f"kraftctl status: {error}", file=sys.stderr)
        return 1
    except NoQuorum as error:
        print(f"kraftctl status: no leader: {error}", file=sys.stderr)
        return 1
    said = as_json(view)
    if options.json:
        print(json.dumps(said))
    elif options.field == "voters":
        print(" ".join(str(number) for number in sorted(view.voters)))
    elif options.field:
        print(said[options.field])
    else:
        print("\n".join(table(view)))
    return 0


def as_json(view: View) -> dict[str, Any]:
    """The view as JSON. lag: records, null if unknown. *_ms_ago: by the leader's clock."""
    return {
        "cluster": view.cluster_id,
        "leader": view.leader_id,
        "epoch": view.epoch,
        "high_watermark": view.high_watermark,
        "end_offset": view.end_offset,
        "voters": [_replica(view, member) for _, member in sorted(view.voters.items())],
        "observers": [_replica(view, member) for _, member in sorted(view.observers.items())],
    }


def _replica(view: View, member: Member) -> dict[str, Any]:
    now_ms = leader_now_ms(view)
    is_leader = member.id == view.leader_id
    return {
        "id": member.id,
        "role": "leader" if is_leader else "follower" if member.id in view.voters else "observer",
        "directory": member.directory_id or None,
        "end_offset": member.end_offset if member.end_offset >= 0 else None,
        "lag": view.lag(member),
        "fetched_ms_ago": None if is_leader else _since(now_ms, member.last_fetch_ms),
        "caught_up_ms_ago": _since(now_ms, member.caught_up_ms),
    }


def leader_now_ms(view: View) -> int:
    """The leader's clock when it answered, which is its own last-caught-up time; -1 if unknown."""
    leader = view.voters.get(view.leader_id)
    return -1 if leader is None else leader.caught_up_ms


def _since(now_ms: int, then_ms: int) -> int | None:
    return None if now_ms < 0 or then_ms < 0 else max(0, now_ms - then_ms)


def table(view: View) -> list[str]:
    """The view as text: one line for the quorum, then one for each replica."""
    rows = [("node", "role", "log end", "lag", "last fetch", "directory")]
    for kind in ("voters", "observers"):
        for replica in as_json(view)[kind]:
            ago = replica["fetched_ms_ago"]
            rows.append(
                (
                    str(replica["id"]),
                    replica["role"],
                    _text(replica["end_offset"]),
                    _text(replica["lag"]),
                    "-" if ago is None else f"{ago} ms ago",
                    replica["directory"] or "-",
                )
            )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    first = (
        f"cluster {view.cluster_id or '-'}: node {view.leader_id} leads epoch {view.epoch}, "
        f"high watermark {view.high_watermark}"
    )
    return [
        first,
        *("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows),
    ]


def _text(value: int | None) -> str:
    return "unknown" if value is None else str(value)
