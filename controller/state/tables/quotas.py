"""Client quotas (KIP-546)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.configs import ClientQuotaRecord

# An entity: (type, name) pairs, ascending by type; the name None is the default of that type.
Entity = tuple[tuple[str, str | None], ...]


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
