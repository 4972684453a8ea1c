"""Client quotas (KIP-546)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from controller.state.tables.table import Table

if TYPE_CHECKING:
    from controller.state.state import State
    from controller.state.tables.undo import Undo
    from records.metadata.configs import ClientQuotaRecord

# An entity: (type, name) pairs, ascending by type; the name None is the default of that type.
Entity = tuple[tuple[str, str | None], ...]

MUTATION_RATE = "controller_mutation_rate"


class Quotas(Table[Entity, Mapping[str, float]]):
    """The quotas of each entity. mutation_rates: the entities that have a `controller_mutation_rate`, and its value."""

    __slots__ = ("mutation_rates",)

    def __init__(self, undo: Undo, name: str) -> None:
        super().__init__(undo, name)
        self.mutation_rates: dict[Entity, float] = {}

    def put(self, key: Entity, value: Mapping[str, float]) -> None:
        super().put(key, value)
        self._index(key, value)

    def remove(self, key: Entity) -> Mapping[str, float]:
        self._index(key, None)
        return super().remove(key)

    def swap(self, key: Entity, value: Mapping[str, float] | None) -> Mapping[str, float] | None:
        self._index(key, value)
        return super().swap(key, value)

    def reset(self) -> None:
        super().reset()
        self.mutation_rates.clear()

    def _index(self, key: Entity, value: Mapping[str, float] | None) -> None:
        rate = None if value is None else value.get(MUTATION_RATE)
        if rate is None:
            self.mutation_rates.pop(key, None)
        else:
            self.mutation_rates[key] = rate


def replay_client_quota(state: State, record: ClientQuotaRecord, _offset: int) -> None:
    """Set or remove one quota of an entity."""
    entity = entity_of({part.entity_type: part.entity_name for part in record.entity})
    quotas = dict(state.quotas.get(entity, ()))
    if record.remove:
        quotas.pop(record.key, None)
    else:
        quotas[record.key] = record.value
    if quotas:
        state.quotas.put(entity, quotas)
    elif entity in state.quotas:
        state.quotas.remove(entity)


def entity_of(parts: dict[str, str | None]) -> Entity:
    """The key of an entity in the table; parts: names by type."""
    return tuple(sorted(parts.items(), key=lambda part: part[0]))
