"""Records of configs, features and quotas (KIP-584, KIP-546)."""

from records.schema import message, struct
from records.wire import array, boolean, float64, int8, int16, nullable, string


@message(api_key=4, kind="metadata", versions=(0, 0), flexible=0)
class ConfigRecord:
    """A config was set, or removed (KIP-631).

    resource_type: 2 topic, 4 broker, 16 client metrics, 32 group.
    resource_name: empty for the default of all brokers.
    value: null where it was removed.
    """

    resource_type: int8
    resource_name: string
    name: string
    value: nullable[string]


@message(api_key=12, kind="metadata", versions=(0, 0), flexible=0)
class FeatureLevelRecord:
    """A feature is at a level now, metadata.version above all (KIP-778).

    name: the feature.
    feature_level: 0 where it is gone.
    """

    name: string
    feature_level: int16


@message(api_key=14, kind="metadata", versions=(0, 0), flexible=0)
class ClientQuotaRecord:
    """A quota was set or removed (KIP-546, KIP-631).

    key: producer_byte_rate, consumer_byte_rate, request_percentage, controller_mutation_rate and others.
    value: the quota; without meaning with remove.
    remove: whether it is gone.
    """

    @struct
    class EntityData:
        entity_type: string
        entity_name: nullable[string]

    entity: array[EntityData]
    key: string
    value: float64
    remove: boolean
