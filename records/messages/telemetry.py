"""Client telemetry (KIP-714)."""

from records.schema import message
from records.wire import array, blob, boolean, int8, int16, int32, string, uuid


@message(api_key=71, kind="request", versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsRequest:
    """Asks: GetTelemetrySubscriptions."""

    client_instance_id: uuid


@message(api_key=71, kind="response", versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsResponse:
    """Answers: GetTelemetrySubscriptions."""

    throttle_time_ms: int32
    error_code: int16
    client_instance_id: uuid
    subscription_id: int32
    accepted_compression_types: array[int8]
    push_interval_ms: int32
    telemetry_max_bytes: int32
    delta_temporality: boolean
    requested_metrics: array[string]


@message(api_key=72, kind="request", versions=(0, 0), flexible=0)
class PushTelemetryRequest:
    """Asks: PushTelemetry."""

    client_instance_id: uuid
    subscription_id: int32
    terminating: boolean
    compression_type: int8
    metrics: blob


@message(api_key=72, kind="response", versions=(0, 0), flexible=0)
class PushTelemetryResponse:
    """Answers: PushTelemetry."""

    throttle_time_ms: int32
    error_code: int16
