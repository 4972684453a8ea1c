"""Records of configs, features and quotas (KIP-584, KIP-546)."""

from records.schema import message, struct
from records.wire import array, boolean, float64, int8, int16, nullable, string


@message(api_key=4, kind="metadata", versions=(0, 0), flexible=0)
class ConfigRecord:
    """Record 4."""

    resource_type: int8
    resource_name: string
    name: string
    value: nullable[string]


@message(api_key=12, kind="metadata", versions=(0, 0), flexible=0)
class FeatureLevelRecord:
    """Record 12."""

    name: string
    feature_level: int16


@message(api_key=14, kind="metadata", versions=(0, 0), flexible=0)
class ClientQuotaRecord:
    """Record 14."""

    @struct
    class EntityData:
        entity_type: string
        entity_name: nullable[string]

    entity: array[EntityData]
    key: string
    value: float64
    remove: boolean
