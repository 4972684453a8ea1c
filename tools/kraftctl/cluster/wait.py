"""`kraftctl wait`: returns when a quorum has a leader and its voters have caught up."""

from __future__ import annotations

import sys

from records.java.config_error import ConfigError
from records.plain_text import plain_text
from tools.client.quorum import NoLeader, Refused, look
from tools.client.quorum_options import add_quorum_options, addresses_of, security_of
from tools.client.retries import Retries
from tools.kraftctl.terminal import parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from tools.client.quorum import Member, View

# A leader reports times of fetches by the wall clock, which drifts against the monotonic clock that measured them.
CLOCK_MS = 50
POLL_S = 0.1
# A node that starts refuses a SCRAM login until it has the credentials of the log; another refusal lasts.
REFUSED_S = 2.0


def run(arguments: list[str]) -> int:
    """Exit code 0 when the voters have caught up; 1 with one line on stderr at the timeout, or if refused before."""
    options = arguments_parser().parse_args(arguments)
    retries = Retries(options.timeout, POLL_S)
    try:
        addresses, security = addresses_of(options), security_of(options)
        waiting = Waiting(options.node, options.past, with_observers=options.observers)
        refused: Retries | None = None
        while True:
            try:
                missing = waiting.take(look(addresses, "kraftctl-wait", security=security))
                refused = None
            except Refused as error:
                missing = f"refused: {error}"
                refused = refused or Retries(REFUSED_S, POLL_S)
                if not refused.left_s:
                    print(f"kraftctl wait: {plain_text(missing)}", file=sys.stderr)
                    return 1
            except NoLeader as error:
                missing = f"no leader: {error}"
                refused = None
            if not missing:
                return 0
            if not retries.pause():
                print(f"kraftctl wait: timed out after {options.timeout:g} s: {plain_text(missing)}", file=sys.stderr)
                return 1
    except (ConfigError, OSError) as error:
        print(f"kraftctl wait: {plain_text(error)}", file=sys.stderr)
        return 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl wait",
        "Wait until the quorum has a leader, and each voter (or those given by --node) has fetched since "
        "this command started and has all records that were committed then.",
        "kraftctl wait --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl wait -c /etc/kafka/controller.properties --node 2 --timeout 120    # after a restart of node 2",
        "kraftctl wait -c /etc/kafka/controller.properties --node 4 --observers      # before add-controller",
    )
    add_quorum_options(top)
    top.add_argument("--node", type=int, action="append", metavar="ID", help="wait only for this voter (repeatable)")
    top.add_argument("--observers", action="store_true", help="--node may also be a controller that is no voter yet")
    top.add_argument("--past", type=int, default=0, metavar="OFFSET", help="also wait for this high watermark")
    top.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="default: %(default)s")
    return top


class Waiting:
    """What the quorum still lacks, view by view.

    A leader keeps reporting the old offset of a voter that is down, so only a fetch after the first view of the same
    leader counts. nodes: the voters to wait for, None for all; past: the least high watermark. with_observers: whether
    nodes may be observers.
    """

    def __init__(self, nodes: Iterable[int] | None, past: int, *, with_observers: bool = False) -> None:
        self.with_observers = with_observers
        self.nodes = None if nodes is None else set(nodes)
        self.goal = past
        self.first: View | None = None

    def take(self, view: View) -> str:
        """What is missing; empty if nothing is."""
        if self.first is None or (view.leader_id, view.epoch) != (self.first.leader_id, self.first.epoch):
            self.first = view
            self.goal = max(self.goal, view.high_watermark)
        if view.high_watermark < self.goal:
            return f"the high watermark is {view.high_watermark}, not yet {self.goal}"
        unknown = (self.nodes or set()) - self._members(view).keys()
        if unknown:
            what = "neither voter nor observer" if self.with_observers else "not a voter"
            return f"node {min(unknown)} is {what}; voters are {sorted(view.voters)}"
        behind = [number for number in sorted(self.nodes or view.voters) if not self._has_all(view, number)]
        if behind:
            return f"not caught up to offset {self.goal}: {', '.join(f'node {number}' for number in behind)}"
        return ""

    def _members(self, view: View) -> dict[int, Member]:
        return {**view.observers, **view.voters} if self.with_observers else view.voters

    def _has_all(self, view: View, number: int) -> bool:
        assert self.first is not None
        member = self._members(view)[number]
        if number == view.leader_id:
            return True
        before = self._members(self.first).get(number)
        is_fresh = before is None or member.last_fetch_ms > before.last_fetch_ms + CLOCK_MS
        return is_fresh and member.end_offset >= self.goal
