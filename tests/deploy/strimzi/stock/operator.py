"""What Strimzi's operator asks, by Kafka's own admin client, which runs in a JVM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.deploy.strimzi.operator_rules import Entry, Voter
from tests.interop.tools.stock_calls import StockCalls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.interop.stock import Stock

SOURCE = Path(__file__).with_name("OperatorCalls.java")
CONTROLLERS, BROKERS = "controllers", "brokers"
SOURCES = {
    "DYNAMIC_BROKER_CONFIG": 2, "DYNAMIC_DEFAULT_BROKER_CONFIG": 3, "STATIC_BROKER_CONFIG": 4, "DEFAULT_CONFIG": 5
}  # fmt: skip


class Refused(Exception):
    """The client's error, with its class."""


class Operator(StockCalls):
    """A context manager: the operator's two admin clients, of the controllers and of the brokers."""

    def __init__(self, stock: Stock) -> None:
        super().__init__(stock, source=SOURCE)

    def open(self, kind: str, servers: Sequence[str], security: Mapping[str, str]) -> None:
        """Make the client of CONTROLLERS or BROKERS."""
        bootstrap = "bootstrap.controllers" if kind == CONTROLLERS else "bootstrap.servers"
        # As the operator's, but that what is not there is found out sooner.
        limits = {"default.api.timeout.ms": "15000", "request.timeout.ms": "5000", "reconnect.backoff.max.ms": "500"}
        self._answer({"open": kind, "config": {bootstrap: ",".join(servers), **security, **limits}})

    def call_on(self, kind: str, call: str, **arguments: Any) -> dict[str, Any]:
        """The answer to one call. Raises Refused."""
        return self._answer({"admin": kind, "call": call, **arguments})

    def quorum(self) -> tuple[int, list[Voter]]:
        """The leader's id, and all voters."""
        found = self.call_on(CONTROLLERS, "quorum")
        return found["leader"], [Voter(each["id"], each["caughtUp"]) for each in found["voters"]]

    def configs(self, node_id: int, kind: str = CONTROLLERS) -> list[Entry]:
        found = self.call_on(kind, "configs", id=str(node_id))["entries"]
        return [Entry(each["name"], each["value"], SOURCES[each["source"]]) for each in found]

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        answer = self.ask(question)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer
