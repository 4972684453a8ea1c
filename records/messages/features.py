"""UpdateFeatures (KIP-584)."""

from records.schema import message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, nullable, string


@message(api_key=57, kind="request", versions=(0, 2), flexible=0)
class UpdateFeaturesRequest:
    """Changes the levels of features, metadata.version among them (KIP-584, KIP-778).

    feature_updates: the features and their new levels.
    feature: its name.
    max_version_level: the new level; 0 removes the feature.
    allow_downgrade: in version 0, whether the level may fall.
    upgrade_type: 1 upgrade, 2 downgrade without loss of metadata, 3 downgrade even if metadata is lost.
    """

    @struct
    class FeatureUpdateKey:
        feature: string
        max_version_level: int16
        allow_downgrade: boolean = until(0, default=False)
        upgrade_type: int8 = since(1, default=1)

    timeout_ms: int32 = 60000
    feature_updates: array[FeatureUpdateKey]
    validate_only: boolean = since(1, default=False)


@message(api_key=57, kind="response", versions=(0, 2), flexible=0)
class UpdateFeaturesResponse:
    """Says whether the levels were changed; since version 2 for all at once.

    feature: its name.
    """

    @struct
    class UpdatableFeatureResult:
        feature: string
        error_code: int16
        error_message: nullable[string]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
    results: array[UpdatableFeatureResult] = until(1, default=(), ignorable=True)
