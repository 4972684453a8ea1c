"""`kraftctl wait`: until a quorum has a leader and its voters have fetched all that was committed when asked."""

from __future__ import annotations

import argparse
import sys
import time

from controller.config.values.definition import ConfigError
from controller.ctl.quorum import NoQuorum, add_quorum_options, addresses_of, look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.ctl.quorum import View

# Times of fetches are told by the wall clock, which moves against the monotonic one by which they were taken.
CLOCK_MS = 50
POLL_S = 0.1


def run(arguments: list[str]) -> int:
    """Exit code 0 when it is so, 1 with one line on stderr when it is not so in time."""
    parser = argparse.ArgumentParser(
        prog="kraftctl wait",
        description="Wait until the quorum has a leader, and each voter (or those named) has fetched since this "
        "command began, and has all that was committed then.",
    )
    add_quorum_options(parser)
    parser.add_argument("--node", type=int, action="append", metavar="ID", help="this voter alone (repeatable)")
    parser.add_argument("--past", type=int, default=0, metavar="OFFSET", help="and the high watermark is at least this")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="default: %(default)s")
    options = parser.parse_args(arguments)
    end = time.monotonic() + options.timeout
    try:
        addresses = addresses_of(options)
        waiting = Waiting(options.node, options.past)
        while True:
            try:
                missing = waiting.take(look(addresses, "kraftctl-wait"))
            except NoQuorum as error:
                missing = f"no leader: {error}"
            if not missing:
                return 0
            if time.monotonic() >= end:
                print(f"kraftctl wait: not within {options.timeout:g} s: {missing}", file=sys.stderr)
                return 1
            time.sleep(POLL_S)
    except (ConfigError, OSError) as error:
        print(f"kraftctl wait: {error}", file=sys.stderr)
        return 1


class Waiting:
    """What is still missing, view by view.

    A leader goes on showing the old offsets of a voter that is away, so only a fetch that came after the first view of
    the same leadership counts. nodes: the voters that matter, None for all; past: the least high watermark.
    """

    def __init__(self, nodes: Iterable[int] | None, past: int) -> None:
        self.nodes = None if nodes is None else set(nodes)
        self.goal = past
        self.first: View | None = None

    def take(self, view: View) -> str:
        """What is missing; empty when nothing is."""
        if self.first is None or (view.leader_id, view.epoch) != (self.first.leader_id, self.first.epoch):
            self.first = view
            self.goal = max(self.goal, view.high_watermark)
        if view.high_watermark < self.goal:
            return f"the high watermark is {view.high_watermark}, not yet {self.goal}"
        unknown = (self.nodes or set()) - view.voters.keys()
        if unknown:
            return f"node {min(unknown)} is no voter; voters are {sorted(view.voters)}"
        behind = [number for number in sorted(self.nodes or view.voters) if not self._has_all(view, number)]
        if behind:
            return f"not caught up with offset {self.goal}: {', '.join(f'node {number}' for number in behind)}"
        return ""

    def _has_all(self, view: View, number: int) -> bool:
        assert self.first is not None
        member = view.voters[number]
        if number == view.leader_id:
            return True
        before = self.first.voters.get(number)
        is_fresh = before is None or member.last_fetch_ms > before.last_fetch_ms + CLOCK_MS
        return is_fresh and member.end_offset >= self.goal
