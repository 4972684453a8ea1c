"""Client quotas (KIP-546)."""

from records.schema import message, struct
from records.wire import array, boolean, float64, int8, int16, int32, nullable, string


@message(api_key=48, kind="request", versions=(0, 1), flexible=1)
class DescribeClientQuotasRequest:
    """Asks for quotas of users, client ids and addresses that match (KIP-546).

    components: what the entity of a quota must be like.
    match_type: 0 this name, 1 the default, 2 any name.
    match: the name; null unless match_type is 0.
    strict: whether entities with further types are left out.
    """

    @struct
    class ComponentData:
        entity_type: string
        match_type: int8
        match: nullable[string]

    components: array[ComponentData]
    strict: boolean


@message(api_key=48, kind="response", versions=(0, 1), flexible=1)
class DescribeClientQuotasResponse:
    """Lists quotas (KIP-546).

    entries: one for each entity; null with an error.
    values: the quotas of the entity.
    values.key: producer_byte_rate, consumer_byte_rate, request_percentage, controller_mutation_rate and others.
    value: the quota.
    """

    @struct
    class EntryData:
        @struct
        class EntityData:
            entity_type: string
            entity_name: nullable[string]

        @struct
        class ValueData:
            key: string
            value: float64

        entity: array[EntityData]
        values: array[ValueData]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
    entries: nullable[array[EntryData]]


@message(api_key=49, kind="request", versions=(0, 1), flexible=1)
class AlterClientQuotasRequest:
    """Sets and removes quotas (KIP-546).

    ops: what changes.
    ops.key: producer_byte_rate, consumer_byte_rate, request_percentage, controller_mutation_rate and others.
    value: the quota; without meaning with remove.
    remove: whether to remove the quota.
    """

    @struct
    class EntryData:
        @struct
        class EntityData:
            entity_type: string
            entity_name: nullable[string]

        @struct
        class OpData:
            key: string
            value: float64
            remove: boolean

        entity: array[EntityData]
        ops: array[OpData]

    entries: array[EntryData]
    validate_only: boolean


@message(api_key=49, kind="response", versions=(0, 1), flexible=1)
class AlterClientQuotasResponse:
    """Says for each entity whether its quotas were changed."""

    @struct
    class EntryData:
        @struct
        class EntityData:
            entity_type: string
            entity_name: nullable[string]

        error_code: int16
        error_message: nullable[string]
        entity: array[EntityData]

    throttle_time_ms: int32
    entries: array[EntryData]
