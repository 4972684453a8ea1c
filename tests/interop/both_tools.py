"""One cluster, asked by stock's tools and by ours: exit codes and outputs, with names in place of ports and folders."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from tests.tools.kafka.cases import acls_in_order, ours, without_frames

if TYPE_CHECKING:
    from tests.interop.cluster import Cluster
    from tests.interop.tools.stock_calls import StockCalls
    from tests.tools.kafka.cases import Case

Step = tuple[str, str]


class Said(NamedTuple):
    exit: int
    stdout: str
    stderr: str


class Both(NamedTuple):
    """The tools of stock, in one JVM, and ours. In a step SERVER and CONTROLLER stand for addresses, DIR for the folder
    of the cluster.
    """

    found: Cluster
    calls: StockCalls

    def words(self, given: str) -> list[str]:
        text = given.replace("SERVER", f"--bootstrap-server {self.found.bootstrap}")
        text = text.replace("CONTROLLER", f"--bootstrap-controller {self.found.bootstrap_controller}")
        return shlex.split(text.replace("DIR", str(self.found.root)))

    def by_stock(self, tool: str, given: str) -> Said:
        return self.said(self.calls.ask({"tool": tool, "args": self.words(given)}), tool)

    def by_ours(self, tool: str, given: str) -> Said:
        return self.said(ours(tool, self.words(given)), tool)

    def said(self, answer: Case, tool: str) -> Said:
        stdout, stderr = (self.plain(without_frames(answer[name]), tool) for name in ("stdout", "stderr"))
        return Said(answer["exit"], stdout, stderr)

    def plain(self, text: str, tool: str) -> str:
        text = text.replace(str(self.found.root), "DIR")
        for node in (*self.found.controllers.values(), *self.found.brokers.values()):
            text = re.sub(rf"\b{node.port}\b", f"PORT-{node.id}", text)
        text = re.sub(r"Call\(callName=(\w+),.*?\) timed out at .*", r"Call(\1) timed out", text)
        return acls_in_order(text) if tool == "acls" else text
