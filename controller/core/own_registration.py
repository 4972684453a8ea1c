"""The registration of this node as a controller: when it is sent to the active controller (KIP-919)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface.effects import Noted, SendToActive
from records.errors import Error, error_name
from records.features.record_versions import CONTROLLER_REGISTRATION
from records.messages.controllers import ControllerRegistrationRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random
    from typing import Any

    from controller.interface.effects import Effect
    from controller.state.state import State
    from raft.interface.config import Endpoint

# Kafka's times: a failed attempt is repeated after 100 ms, twice that and so on.
BACKOFF_MS = 100
BACKOFF_MAX_MS = 120_000
JITTER = 0.02
TIMEOUT_MS = 5000


class OwnRegistration:
    """Sends until the state has this incarnation of this node.

    listeners: of the controller role, each with the code of its security protocol. features: name -> least and greatest
    level supported. retry_ms: when the next attempt may be made; answer_due_ms: until when the one under way may take.
    """

    __slots__ = (
        "answer_due_ms", "failures", "features", "incarnation_id", "listeners", "node_id", "number", "random",
        "retry_ms",
    )  # fmt: skip

    def __init__(
        self,
        node_id: int,
        incarnation_id: bytes,
        listeners: Sequence[tuple[Endpoint, int]],
        features: Mapping[str, tuple[int, int]],
        random: Random,
    ) -> None:
        self.node_id = node_id
        self.incarnation_id = incarnation_id
        self.listeners = listeners
        self.features = features
        self.random = random
        self.number = 0
        self.failures = 0
        self.retry_ms = 0
        self.answer_due_ms: int | None = None

    def is_wanted(self, state: State) -> bool:
        """Whether the cluster keeps registrations of controllers, and lacks ours."""
        registered = state.controllers.get(self.node_id)
        is_known = registered is not None and registered.incarnation_id == self.incarnation_id
        return not is_known and state.metadata_version >= CONTROLLER_REGISTRATION

    def next_due_ms(self, state: State, leader_id: int) -> int | None:
        """When there will be something to do; None as long as nothing else happens."""
        if self.answer_due_ms is not None:
            return self.answer_due_ms
        return self.retry_ms if leader_id >= 0 and self.is_wanted(state) else None

    def due(self, state: State, leader_id: int, now_ms: int) -> list[Effect]:
        """Send, if it is time; count an attempt that got no answer as failed."""
        if self.answer_due_ms is not None:
            if now_ms < self.answer_due_ms:
                return []
            return self.on_failure(now_ms, "no answer came")
        if leader_id < 0 or now_ms < self.retry_ms or not self.is_wanted(state):
            return []
        self.number += 1
        self.answer_due_ms = now_ms + TIMEOUT_MS
        return [SendToActive(self.number, self.request())]

    def on_leader_changed(self, now_ms: int) -> None:
        """Another controller may accept the registration, so a pending retry is due at once."""
        self.retry_ms = min(self.retry_ms, now_ms)

    def on_answer(self, number: int, response: Any, now_ms: int) -> list[Effect]:
        """Take the response of the active controller; None: it gave none. Its record is seen when committed."""
        if number != self.number or self.answer_due_ms is None:
            return []
        if response is None:
            return self.on_failure(now_ms, "the active controller was not reached")
        if response.error_code != Error.NONE:
            return self.on_failure(now_ms, f"{error_name(response.error_code)}: {response.error_message}")
        self.answer_due_ms = None
        self.failures = 0
        self.retry_ms = now_ms + TIMEOUT_MS
        return []

    def on_failure(self, now_ms: int, reason: str) -> list[Effect]:
        self.answer_due_ms = None
        term = BACKOFF_MS * 2 ** min(self.failures, 20)
        backoff_ms = min(int(term * (1 + JITTER * (2 * self.random.random() - 1))), BACKOFF_MAX_MS)
        self.failures += 1
        self.retry_ms = now_ms + backoff_ms
        return [Noted("controller_registration_failed", {"reason": reason, "retry_ms": backoff_ms})]

    def request(self) -> ControllerRegistrationRequest:
        listener = ControllerRegistrationRequest.Listener
        feature = ControllerRegistrationRequest.Feature
        return ControllerRegistrationRequest(
            controller_id=self.node_id,
            incarnation_id=self.incarnation_id,
            zk_migration_ready=False,
            listeners=tuple(
                listener(name=end.listener, host=end.host, port=end.port, security_protocol=protocol)
                for end, protocol in self.listeners
            ),
            features=tuple(
                feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in self.features.items()
            ),
        )
