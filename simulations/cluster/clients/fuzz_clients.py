"""Fuzz clients: they send valid and invalid requests of every API, about topics that no other client uses.

Histories leave them out: each of their requests is checked by itself, as all requests are (`rules`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.nodes.client import Client
from simulations.world.releases import OLD_CLIENT
from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulations.cluster.clients.cluster import Cluster
    from simulations.cluster.metadata.image import Image

FIRST_ID = 401
# How often a request goes to any controller, not to the one taken for active.
ANYBODY = 0.15
TIMEOUT_MS = 1200


class FuzzClient:
    """One of them. image: the committed metadata, from which almost valid requests are made."""

    def __init__(self, run: Cluster, number: int, asks: Sequence[Callable[[FuzzClient], Any]]) -> None:
        self.run = run
        self._asks = asks
        self.rng = run.stream("clerk", number)
        self.client = Client(run.world, run.network, self.rng, FIRST_ID + number, run.plan.voter_ids)
        if number:
            self.client.release = OLD_CLIENT
        self._is_over = False
        self._later()

    @property
    def image(self) -> Image:
        return self.run.watch.log_rules.image

    def stop(self) -> None:
        """Send no more requests."""
        self._is_over = True

    def _later(self) -> None:
        self.run.world.after(between(self.rng, 1, 2 * self.run.plan.ask_every_ms) * MS, self._act)

    def _act(self) -> None:
        if self._is_over:
            return
        request = self.one_of(self._asks)(self)
        server = self.one_of(self.run.plan.voter_ids) if self.happens(ANYBODY) else 0
        self.client.ask(request, self._on_done, TIMEOUT_MS, server)

    def _on_done(self, response: Any) -> None:
        if response is None or self.run.watch.is_from_standby(self.client):
            self.client.look_elsewhere()
        self._later()

    # Draws

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.random() * len(choices))]

    def happens(self, share: float) -> bool:
        """True with this probability."""
        return self.rng.random() < share

    def some(self, least: int, most: int, draw: Callable[[FuzzClient], Any]) -> tuple[Any, ...]:
        """A list of random items, drawn one after the other."""
        return tuple(draw(self) for _ in range(between(self.rng, least, most)))
