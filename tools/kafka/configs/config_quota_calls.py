"""Calls about client quotas (KIP-546)."""

from __future__ import annotations

from typing import NamedTuple

from records.java.java_order import bucket_order, hash_code, hash_order
from records.messages.quotas import AlterClientQuotasRequest, DescribeClientQuotasRequest
from tools.client.admin import Call
from tools.client.exceptions import KafkaError
from tools.kafka.configs.config_calls import of_brokers, wait_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tools.client.admin import Admin

    # Type -> name; None for the default.
    Entity = Mapping[str, str | None]

USER, CLIENT_ID, IP = "user", "client-id", "ip"
EXACT, DEFAULT, ANY = 0, 1, 2


class Component(NamedTuple):
    """What the entities of quotas must be like. name: empty for the default, None for any."""

    type: str
    name: str | None


class Quotas(NamedTuple):
    """The quotas of one entity."""

    entity: Entity
    values: Mapping[str, float]


def describe_quotas(admin: Admin, components: Sequence[Component]) -> list[Quotas]:
    """The quotas of entities with exactly these components, in the order of Java's map. Raises Uncaught."""
    of_brokers(admin)
    kind = DescribeClientQuotasRequest.ComponentData
    wanted = tuple(
        kind(
            entity_type=component.type,
            match_type=ANY if component.name is None else EXACT if component.name else DEFAULT,
            match=component.name or None,
        )
        for component in components
    )
    request = DescribeClientQuotasRequest(components=wanted, strict=True)

    def outcome(response: Any) -> list[Quotas]:
        if response.error_code:
            raise KafkaError(response.error_code, response.error_message)
        entities = [
            Quotas(
                {each.entity_type: each.entity_name for each in entry.entity},
                {each.key: each.value for each in entry.values},
            )
            for entry in response.entries or ()
        ]
        return [entities[number] for number in _order(entities)]

    quotas: list[Quotas] = wait_for(admin, Call("describeClientQuotas", lambda _: request, outcome), 30.0)
    return quotas


def _order(entities: Sequence[Quotas]) -> list[int]:
    """The places of the entities in the order of a HashMap of this size, whose keys have maps for fields."""
    codes = []
    for quotas in entities:
        code = sum(hash_code(kind) ^ (0 if name is None else hash_code(name)) for kind, name in quotas.entity.items())
        codes.append((31 + code) & 0xFFFFFFFF)
    return bucket_order(list(range(len(entities))), codes, max(1, len(entities)))


def shown_values(values: Mapping[str, float]) -> list[tuple[str, float]]:
    """The quotas of an entity in the order of Java's map."""
    return [(key, values[key]) for key in hash_order(values, max(1, len(values)))]


def alter_quotas(admin: Admin, entity: Entity, values: Mapping[str, float | None]) -> None:
    """values: None to remove a quota. Raises Uncaught."""
    of_brokers(admin)
    kind = AlterClientQuotasRequest.EntryData
    entry = kind(
        entity=tuple(kind.EntityData(entity_type=name, entity_name=entity[name]) for name in hash_order(entity)),
        ops=tuple(kind.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in values.items()),
    )
    request = AlterClientQuotasRequest(entries=(entry,), validate_only=False)

    def outcome(response: Any) -> None:
        for result in response.entries:
            if result.error_code:
                raise KafkaError(result.error_code, result.error_message)

    admin.result(Call("alterClientQuotas", lambda _: request, outcome))
