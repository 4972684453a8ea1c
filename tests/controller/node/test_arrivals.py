"""A request on its way into the node: which of them count as those of others for long ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from controller.node.arrivals import Arrivals
from records.messages.brokers import BrokerHeartbeatRequest, UnregisterBrokerRequest
from records.schema import default_of
from tests.controller.node.test_admission import Seen, incoming


def test_a_short_request_is_one_of_others_and_a_heartbeat_is_not() -> None:
    seen = Seen(has_authorizer=False)
    came: list[str] = []
    parts: dict[str, Any] = dict.fromkeys(("server", "replica", "replies", "shared_ids", "to_raft"))
    arrivals = Arrivals(
        log=SimpleNamespace(shown=()),  # type: ignore[arg-type]
        controller=seen.controller,
        admission=seen.admission,
        long=SimpleNamespace(queue=SimpleNamespace(on_other=lambda: came.append("another"))),  # type: ignore[arg-type]
        now_ms=lambda: 5,
        to_controller=lambda event: came.append(type(event.request).__name__),  # type: ignore[union-attr]
        **parts,
    )

    arrivals.take(incoming(default_of(BrokerHeartbeatRequest)))
    arrivals.take(incoming(default_of(UnregisterBrokerRequest)))

    assert came == ["BrokerHeartbeatRequest", "another", "UnregisterBrokerRequest"]
