"""The brokers on which new replicas are placed."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from controller.handlers.assignments import placed_replicas
from controller.interface.env import Env
from controller.interface.sessions import Sessions
from controller.interface.settings import Settings
from controller.state.state import State
from records.errors import ApiError
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord

if TYPE_CHECKING:
    from collections.abc import Callable

RACKS = (None, "a", "b")


class Brokers:
    """Brokers that register, are fenced and leave, as the active controller sees them."""

    def __init__(self) -> None:
        self.state = State()
        self.env = Env(cluster_id="c", node_id=1, random=Random(1), settings=Settings())
        self.env.sessions = Sessions(9000)

    def replay(self, record: Any) -> None:
        assert self.env.sessions is not None
        self.state.replay(record, self.state.end_offset)
        self.env.sessions.follow(self.state, [(record, 0)])

    def register(self, broker_id: int, rack: str | None, *, fenced: bool) -> None:
        directory = bytes(11) + (broker_id + 1).to_bytes(1, "big") * 5
        self.replay(
            RegisterBrokerRecord(
                broker_id=broker_id, incarnation_id=bytes(16), broker_epoch=self.state.end_offset, end_points=(),
                features=(), rack=rack, fenced=fenced, log_dirs=(directory,), cordoned_log_dirs=(),
            )
        )  # fmt: skip

    def change(self, broker_id: int, **changes: Any) -> None:
        broker = self.state.brokers[broker_id]
        self.replay(
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, log_dirs=(), **changes)
        )

    def unregister(self, broker_id: int) -> None:
        epoch = self.state.brokers[broker_id].epoch
        self.replay(UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=epoch))

    def change_one(self, random: Random, step: int) -> None:
        """A change of one broker, or none."""
        broker_id = random.randrange(12)
        broker = self.state.brokers.get(broker_id)
        if broker is None:
            self.register(broker_id, random.choice(RACKS), fenced=random.random() < 0.3)
            return
        sessions = self.env.sessions
        assert sessions is not None
        session = sessions.get(broker_id)
        assert session is not None
        changes: list[Callable[[], object]] = [
            lambda: None,
            lambda: self.change(broker_id, fenced=1),
            lambda: self.change(broker_id, fenced=-1),
            lambda: self.change(
                broker_id, cordoned_log_dirs=broker.directories if broker.has_uncordoned_directory else ()
            ),
            lambda: sessions.touch(broker_id, fenced=random.random() < 0.5, metadata_offset=step),
            lambda: self.unregister(broker_id),
        ]
        if not session.fenced:
            changes.append(lambda: sessions.start_shutdown(broker_id, step))
        random.choice(changes)()

    def usable(self) -> dict[str | None, tuple[list[int], list[int]]]:
        """Rack -> the fenced and the other brokers that may get replicas, without what was kept."""
        found: dict[str | None, tuple[list[int], list[int]]] = {}
        for session in self.env.sessions or ():
            broker = self.state.brokers[session.broker_id]
            if broker.has_uncordoned_directory and not session.is_shutting_down:
                found.setdefault(broker.rack, ([], []))[not session.fenced].append(session.broker_id)
        return found


@pytest.mark.parametrize("seed", range(20))
def test_replicas_are_placed_on_the_brokers_of_now_after_each_change(seed: int) -> None:
    random = Random(seed)
    brokers = Brokers()

    for step in range(100):
        brokers.change_one(random, step)

        usable = brokers.usable()
        try:
            (placed,) = placed_replicas(brokers.state, brokers.env, 1, 1)
        except ApiError:
            assert not any(unfenced for _, unfenced in usable.values())
        else:
            assert any(placed[0] in unfenced for _, unfenced in usable.values())
        sessions = brokers.env.sessions
        assert sessions is not None
        assert sessions.usable is not None
        assert {rack: tuple(of_rack) for rack, of_rack in sessions.usable.racks.items()} == usable
