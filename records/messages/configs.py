"""Configs of topics, brokers, groups and clients (KIP-133, KIP-339)."""

from records.schema import message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, nullable, string


@message(api_key=32, kind="request", versions=(0, 4), served=(1, 4), flexible=4)
class DescribeConfigsRequest:
    """Asks: DescribeConfigs."""

    @struct
    class DescribeConfigsResource:
        resource_type: int8
        resource_name: string
        configuration_keys: nullable[array[string]]

    resources: array[DescribeConfigsResource]
    include_synonyms: boolean = since(1, default=False)
    include_documentation: boolean = since(3, default=False)


@message(api_key=32, kind="response", versions=(0, 4), served=(1, 4), flexible=4)
class DescribeConfigsResponse:
    """Answers: DescribeConfigs."""

    @struct
    class DescribeConfigsResult:
        @struct
        class DescribeConfigsResourceResult:
            @struct
            class DescribeConfigsSynonym:
                name: string = since(1, default="")
                value: nullable[string] = since(1, default="")
                source: int8 = since(1, default=0)

            name: string
            value: nullable[string]
            read_only: boolean
            is_default: boolean = until(0, default=False)
            config_source: int8 = since(1, default=-1, ignorable=True)
            is_sensitive: boolean
            synonyms: array[DescribeConfigsSynonym] = since(1, default=(), ignorable=True)
            config_type: int8 = since(3, default=0, ignorable=True)
            documentation: nullable[string] = since(3, default="", ignorable=True)

        error_code: int16
        error_message: nullable[string]
        resource_type: int8
        resource_name: string
        configs: array[DescribeConfigsResourceResult]

    throttle_time_ms: int32
    results: array[DescribeConfigsResult]


@message(api_key=33, kind="request", versions=(0, 2), flexible=2)
class AlterConfigsRequest:
    """Asks: AlterConfigs."""

    @struct
    class AlterConfigsResource:
        @struct
        class AlterableConfig:
            name: string
            value: nullable[string]

        resource_type: int8
        resource_name: string
        configs: array[AlterableConfig]

    resources: array[AlterConfigsResource]
    validate_only: boolean


@message(api_key=33, kind="response", versions=(0, 2), flexible=2)
class AlterConfigsResponse:
    """Answers: AlterConfigs."""

    @struct
    class AlterConfigsResourceResponse:
        error_code: int16
        error_message: nullable[string]
        resource_type: int8
        resource_name: string

    throttle_time_ms: int32
    responses: array[AlterConfigsResourceResponse]


@message(api_key=44, kind="request", versions=(0, 1), flexible=1)
class IncrementalAlterConfigsRequest:
    """Asks: IncrementalAlterConfigs."""

    @struct
    class AlterConfigsResource:
        @struct
        class AlterableConfig:
            name: string
            config_operation: int8
            value: nullable[string]

        resource_type: int8
        resource_name: string
        configs: array[AlterableConfig]

    resources: array[AlterConfigsResource]
    validate_only: boolean


@message(api_key=44, kind="response", versions=(0, 1), flexible=1)
class IncrementalAlterConfigsResponse:
    """Answers: IncrementalAlterConfigs."""

    @struct
    class AlterConfigsResourceResponse:
        error_code: int16
        error_message: nullable[string]
        resource_type: int8
        resource_name: string

    throttle_time_ms: int32
    responses: array[AlterConfigsResourceResponse]


@message(api_key=74, kind="request", versions=(0, 0), served=None, flexible=0)
class ListClientMetricsResourcesRequest:
    """Asks: ListClientMetricsResources."""


@message(api_key=74, kind="response", versions=(0, 0), served=None, flexible=0)
class ListClientMetricsResourcesResponse:
    """Answers: ListClientMetricsResources."""

    @struct
    class ClientMetricsResource:
        name: string

    throttle_time_ms: int32
    error_code: int16
    client_metrics_resources: array[ClientMetricsResource]


@message(api_key=74, kind="request", versions=(0, 1), flexible=0)
class ListConfigResourcesRequest:
    """Asks: ListConfigResources."""

    resource_types: array[int8] = since(1, default=())


@message(api_key=74, kind="response", versions=(0, 1), flexible=0)
class ListConfigResourcesResponse:
    """Answers: ListConfigResources."""

    @struct
    class ConfigResource:
        resource_name: string
        resource_type: int8 = since(1, default=16, ignorable=True)

    throttle_time_ms: int32
    error_code: int16
    config_resources: array[ConfigResource]
