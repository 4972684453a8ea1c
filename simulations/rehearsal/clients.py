"""The clients of a rehearsal: writers, whose every write can be found again in the log, and the brokers' heartbeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from records.errors import Error
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.quotas import AlterClientQuotasRequest
from simulations.nodes.client import Client
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from simulations.rehearsal.observed import Observed
    from simulations.world.connections import Network
    from simulations.world.process import Process
    from simulations.world.world import World

USER = "kraftctl-rehearse"
"""The entity whose quota is written: a record of it is small, replaces the one before, and is valid in any metadata."""
KEY = "producer_byte_rate"

# Two writers with this pause: a write each 25 ms, so that a time without a commit is known to about as much.
WRITERS = 2
PAUSE_MS = 50
LOOK_MS = 5
# A client gives a request up after this time, as Kafka's clients do by request.timeout.ms; then it asks again.
GIVE_UP_MS = 5_000
HEARTBEAT_MS = 2_000
FIRST_CLIENT = 1 << 31


class Surroundings(Protocol):
    """What clients use of a rehearsal; see `rehearsal.world.RehearsalWorld`."""

    world: World
    observed: Observed

    @property
    def network(self) -> Network: ...
    @property
    def nodes(self) -> Iterable[int]: ...
    def stream(self, *names: str | int) -> Random: ...
    def active(self) -> Process | None: ...


class Writer:
    """Writes to the active controller of the highest epoch, one request at a time. It is near every node, so what it
    measures is the quorum's.
    """

    def __init__(self, run: Surroundings, place: int) -> None:
        self._run = run
        self._place = place
        rng = run.stream("writer", place)
        self._client = Client(run.world, run.network, rng, FIRST_CLIENT + place, list(run.nodes))
        self._count = 0
        self._asked: tuple[int, int, int] | None = None  # node, epoch, number
        run.world.after(int(rng.random() * PAUSE_MS * MS), self._act)

    def _act(self) -> None:
        run = self._run
        active = run.active()
        if active is None:
            run.world.after(LOOK_MS * MS, self._act)
            return
        epoch = active.replica.epoch
        if self._asked is not None and self._asked[:2] == (active.node.id, epoch):
            run.world.after(LOOK_MS * MS, self._act)  # it waits for the answer
            return
        self._count += 1
        number = self._count * WRITERS + self._place
        self._asked = (active.node.id, epoch, number)
        began = run.world.now

        def on_done(response: Any) -> None:
            self._on_done(number, began, response)

        self._client.target = active.node.id
        self._client.ask(quota_request(number), on_done, GIVE_UP_MS)
        run.world.after(PAUSE_MS * MS, self._act)

    def _on_done(self, number: int, began: int, response: Any) -> None:
        if self._asked is not None and self._asked[2] == number:
            self._asked = None
        if response is not None and response.entries[0].error_code == Error.NONE:
            self._run.observed.on_committed(number, self._run.world.now - began)


class Heartbeats:
    """The heartbeats of the brokers that the metadata names, so that their sessions go on. refused: the ids of brokers
    that a controller has fenced, or does not know any more.
    """

    def __init__(self, run: Surroundings, brokers: list[tuple[int, int]]) -> None:
        self._run = run
        self.refused: set[int] = set()
        for place, (broker_id, epoch) in enumerate(brokers):
            rng = run.stream("broker", broker_id)
            client = Client(run.world, run.network, rng, FIRST_CLIENT + WRITERS + place, list(run.nodes))
            run.world.after(int(rng.random() * HEARTBEAT_MS * MS), self._beat, client, broker_id, epoch)

    def _beat(self, client: Client, broker_id: int, epoch: int) -> None:
        run = self._run
        active = run.active()
        if active is None:
            run.world.after(LOOK_MS * 10 * MS, self._beat, client, broker_id, epoch)
            return
        run.world.after(HEARTBEAT_MS * MS, self._beat, client, broker_id, epoch)
        request = BrokerHeartbeatRequest(
            broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=end_of(active) - 1, want_fence=False,
            want_shut_down=False,
        )  # fmt: skip

        def on_done(response: Any) -> None:
            if response is not None and response.error_code != Error.NOT_CONTROLLER:
                is_out = response.error_code != Error.NONE or response.is_fenced
                (self.refused.add if is_out else self.refused.discard)(broker_id)

        client.target = active.node.id
        client.ask(request, on_done, HEARTBEAT_MS)


def end_of(process: Process) -> int:
    """Up to where a controller has applied the log, exclusive."""
    return process.machine.offset


def quota_request(number: int) -> AlterClientQuotasRequest:
    entry = AlterClientQuotasRequest.EntryData
    entity = (entry.EntityData(entity_type="user", entity_name=USER),)
    ops = (entry.OpData(key=KEY, value=float(number), remove=False),)
    return AlterClientQuotasRequest(entries=(entry(entity=entity, ops=ops),), validate_only=False)
