"""Admin clients: each sends one request after the other, and retries without an answer. Requests that a model covers
are recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.histories.controller_requests import answer_of, request_of
from simulations.histories.operations import UNKNOWN
from simulations.nodes.client import Client
from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulations.cluster.clients.cluster import Cluster
    from simulations.histories.operations import Operation

    Read = Callable[[Any], Any]

FIRST_ID = 201
TIMEOUT_MS = 1200


class Admin:
    """One client. asked: how many requests it has sent. topic_ids: the ids in answers, by name."""

    def __init__(self, run: Cluster, number: int, asks: Mapping[str, Callable[[Admin], None]]) -> None:
        self.run = run
        self._asks = asks
        self.name = f"admin-{number + 1}"
        self.rng = run.stream(self.name)
        self.client = Client(run.world, run.network, self.rng, FIRST_ID + number, run.plan.voter_ids)
        self.asked = 0
        self.topic_ids: dict[str, bytes] = {}
        self._is_over = False
        self.later()

    def stop(self) -> None:
        """Send no more requests."""
        self._is_over = True

    def later(self) -> None:
        """Send the next request after a pause."""
        self.run.world.after(between(self.rng, 1, 2 * self.run.plan.ask_every_ms) * MS, self._act)

    def _act(self) -> None:
        if self._is_over:
            return
        kinds = self.run.plan.operations
        self._asks[kinds[int(self.rng.random() * len(kinds))]](self)

    def ask(self, request: Any, asked: list[tuple[Any, ...]], read: Read, tries: int = 0) -> None:
        """Send a request that is recorded as several operations. read: from an answer, gives the outcome of each;
        UNKNOWN for an operation that may or may not have been done.
        """
        operations = [self.run.recorder.ask(self.name, each) for each in asked]
        self.asked += 1

        def on_done(response: Any) -> None:
            answers = [UNKNOWN] * len(operations) if response is None else read(response)
            self._write_down(operations, answers)
            if response is None or UNKNOWN in answers:
                self.client.look_elsewhere()
                if tries and not self._is_over:  # as a client does, which does not know whether it was done
                    self.ask(request, asked, read, tries - 1)
                    return
            self.later()

        self.client.ask(request, on_done, TIMEOUT_MS)

    def ask_one(self, asked: tuple[Any, ...], tries: int = 0, keys: tuple[str, ...] | None = None) -> None:
        """Send a request that is one operation. keys: of the configs that a read is about."""
        request = request_of(asked, TIMEOUT_MS, keys)
        self.ask(request, [asked], lambda response: [answer_of(asked, response)], tries)

    def ask_only(self, request: Any) -> None:
        """Send a request that no model covers; its effects are checked in the log, and its answer by `watch`."""
        self.ask(request, [], lambda _response: [])

    def _write_down(self, operations: list[Operation], answers: list[Any]) -> None:
        from_standby = self.run.watch.is_from_standby(self.client)
        for operation, each in zip(operations, answers, strict=True):
            if from_standby and str(operation.asked[0]).startswith("read"):
                self.run.recorder.forget(operation)  # as of what that one has read, which may be little
            elif each is not UNKNOWN:
                self.run.recorder.answer(operation, each)

    def topic(self) -> str:
        """The name of one of the topics."""
        return f"topic-{int(self.rng.random() * self.run.plan.topics)}"

    def tries(self) -> int:
        """How often it retries a request whose outcome it does not know."""
        return between(self.rng, 0, 2)

    def one_of(self, choices: Any) -> Any:
        return choices[int(self.rng.random() * len(choices))]
