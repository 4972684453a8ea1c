"""Client telemetry (KIP-714)."""

from records.schema import message
from records.wire import array, blob, boolean, int8, int16, int32, string, uuid


@message(api_key=71, kind="request", versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsRequest:
    """A client asks which metrics it shall push (KIP-714).

    client_instance_id: zero at first, then what it was given.
    """

    client_instance_id: uuid


@message(api_key=71, kind="response", versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsResponse:
    """Tells a client which metrics to push, how and how often (KIP-714).

    client_instance_id: the id that the client was given, where it had none.
    subscription_id: changes with what is subscribed to.
    accepted_compression_types: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd, the best first.
    push_interval_ms: how often to push.
    telemetry_max_bytes: how much one push may hold.
    delta_temporality: whether counters are sent as differences.
    requested_metrics: prefixes of names; none for nothing, one empty prefix for all.
    """

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
    """A client pushes its metrics (KIP-714).

    client_instance_id: the id that the client was given.
    subscription_id: the subscription that this follows.
    terminating: whether it is the client's last push.
    compression_type: of the metrics: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    metrics: OpenTelemetry's MetricsData v1, in protobuf.
    """

    client_instance_id: uuid
    subscription_id: int32
    terminating: boolean
    compression_type: int8
    metrics: blob


@message(api_key=72, kind="response", versions=(0, 0), flexible=0)
class PushTelemetryResponse:
    """Says whether the metrics are taken."""

    throttle_time_ms: int32
    error_code: int16
