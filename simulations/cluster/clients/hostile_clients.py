"""Hostile clients: users that send large requests on several connections, each one as soon as the last is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface.inputs import Principal
from records.messages.topics import CreateTopicsRequest
from records.schema import default_of, replace
from simulations.nodes.client import BACKOFF_MS, Client
from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.cluster.clients.cluster import Cluster

FIRST_ID = 501
# Each user has more than one, so that one of its requests waits while another is served.
CONNECTIONS = 2
TIMEOUT_MS = 3000
# Requests for so many partitions are long ones, whatever their size.
PARTITIONS = 200

_TOPIC = default_of(CreateTopicsRequest.CreatableTopic)


def invalid_topics(rng: Random) -> CreateTopicsRequest:
    """Topics with invalid names: each is refused, and nothing is written."""
    return _topics_request([f"hostile {number}" for number in range(between(rng, 2, 20))], dry=False)


def dry(rng: Random) -> CreateTopicsRequest:
    """Topics that would be created: all is done for them but the write."""
    return _topics_request([f"hostile-{number}" for number in range(between(rng, 1, 10))], dry=True)


def _topics_request(names: list[str], *, dry: bool) -> CreateTopicsRequest:
    count = -(-PARTITIONS // len(names))
    topics = tuple(replace(_TOPIC, name=name, num_partitions=count, replication_factor=1) for name in names)
    return replace(default_of(CreateTopicsRequest), topics=topics, timeout_ms=TIMEOUT_MS, validate_only=dry)


KINDS: tuple[Callable[[Random], Any], ...] = (invalid_topics, dry)


class HostileClient:
    """One connection of a user."""

    def __init__(self, run: Cluster, user: int, number: int) -> None:
        self._run = run
        self._rng = run.stream("hostile", user, number)
        self._ask = KINDS[user % len(KINDS)]
        client_id = FIRST_ID + user * CONNECTIONS + number
        self.client = Client(run.world, run.network, self._rng, client_id, run.plan.voter_ids)
        self.client.identity = Principal("User", f"hostile-{user}")
        self.answered = 0
        self._is_over = False
        run.world.after(between(self._rng, 0, 500) * MS, self._act)

    def stop(self) -> None:
        """Send no more requests."""
        self._is_over = True

    def _act(self) -> None:
        if not self._is_over:
            self.client.ask(self._ask(self._rng), self._on_done, TIMEOUT_MS)

    def _on_done(self, response: Any) -> None:
        if response is not None and not self._run.watch.is_from_standby(self.client):
            self.answered += 1
            self._act()
            return
        self.client.look_elsewhere()
        self._run.world.after(BACKOFF_MS * MS, self._act)
