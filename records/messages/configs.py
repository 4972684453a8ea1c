"""Configs of topics, brokers, groups and clients (KIP-133, KIP-339)."""

from records.schema import message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, nullable, string


@message(api_key=32, kind="request", versions=(0, 4), served=(1, 4), flexible=4)
class DescribeConfigsRequest:
    """Asks for the configs of topics, brokers and other resources (KIP-133, KIP-226, KIP-569).

    configuration_keys: the keys wanted; null for all.
    include_synonyms: whether to include every source that a value may come from.
    include_documentation: whether to include what each config is for.
    """

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
    """Gives configs with where each value comes from (KIP-133, KIP-226, KIP-569).

    name: the key.
    value: null where it has none, or is sensitive.
    read_only: whether it cannot be changed.
    is_default: in version 0, whether it is the default.
    synonyms: the places that a value may come from, the one that counts first.
    synonyms.name: the key at that place.
    source: 1 topic, 2 broker, 3 all brokers, 4 broker's file, 5 default, 6 broker's logger, 7 client metrics, 8 group.
    config_type: 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password; 0 unknown.
    documentation: what the config is for; null where not asked for.
    """

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
    """Replaces all configs of resources (KIP-133).

    configs: all that shall not have its default.
    """

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
    """Says for each resource whether its configs are replaced."""

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
    """Sets, deletes, extends or shortens single configs of resources (KIP-339).

    configs: what changes.
    config_operation: 0 set, 1 delete, 2 append to a list, 3 subtract from a list.
    value: null with delete.
    """

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
    """Says for each resource whether its configs have changed."""

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
    """Asks which client metrics have configs; the name of ListConfigResources up to 4.0 (KIP-714)."""


@message(api_key=74, kind="response", versions=(0, 0), served=None, flexible=0)
class ListClientMetricsResourcesResponse:
    """Lists the client metrics that have configs.

    client_metrics_resources: their names.
    """

    @struct
    class ClientMetricsResource:
        name: string

    throttle_time_ms: int32
    error_code: int16
    client_metrics_resources: array[ClientMetricsResource]


@message(api_key=74, kind="request", versions=(0, 1), flexible=0)
class ListConfigResourcesRequest:
    """Asks which resources have configs (KIP-714, KIP-1142).

    resource_types: which types; empty for all. In version 0 client metrics alone.
    """

    resource_types: array[int8] = since(1, default=())


@message(api_key=74, kind="response", versions=(0, 1), flexible=0)
class ListConfigResourcesResponse:
    """Lists the resources that have configs.

    config_resources: those of the types asked for.
    """

    @struct
    class ConfigResource:
        resource_name: string
        resource_type: int8 = since(1, default=16, ignorable=True)

    throttle_time_ms: int32
    error_code: int16
    config_resources: array[ConfigResource]
