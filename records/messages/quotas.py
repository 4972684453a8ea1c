"""Client quotas (KIP-546)."""

from records.schema import message, struct
from records.wire import array, boolean, float64, int8, int16, int32, nullable, string


@message(api_key=48, kind="request", versions=(0, 1), flexible=1)
class DescribeClientQuotasRequest:
    """Asks: DescribeClientQuotas."""

    @struct
    class ComponentData:
        entity_type: string
        match_type: int8
        match: nullable[string]

    components: array[ComponentData]
    strict: boolean


@message(api_key=48, kind="response", versions=(0, 1), flexible=1)
class DescribeClientQuotasResponse:
    """Answers: DescribeClientQuotas."""

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
    """Asks: AlterClientQuotas."""

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
    """Answers: AlterClientQuotas."""

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
