"""Registered controllers (KIP-919, KIP-1242)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from controller.state.tables.brokers import features_of, listeners_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.state.state import State
    from controller.state.tables.brokers import Endpoint, VersionRange
    from records.metadata.brokers import RegisterControllerRecord, UnregisterControllerRecord


class Controller(NamedTuple):
    """A controller as it registered. listeners, features: by name."""

    controller_id: int
    incarnation_id: bytes
    zk_migration_ready: bool
    listeners: Mapping[str, Endpoint]
    features: Mapping[str, VersionRange]


def replay_register_controller(state: State, record: RegisterControllerRecord, _offset: int) -> None:
    controller = Controller(
        record.controller_id,
        record.incarnation_id,
        record.zk_migration_ready,
        listeners_of(record),
        features_of(record),
    )
    state.controllers.put(record.controller_id, controller)


def replay_unregister_controller(state: State, record: UnregisterControllerRecord, _offset: int) -> None:
    if record.controller_id not in state.controllers:
        raise ValueError(f"controller {record.controller_id} is not registered")
    state.controllers.remove(record.controller_id)
