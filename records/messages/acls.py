"""Access control lists (KIP-140)."""

from records.schema import message, since, struct
from records.wire import array, int8, int16, int32, nullable, string


@message(api_key=29, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeAclsRequest:
    """Asks: DescribeAcls."""

    resource_type_filter: int8
    resource_name_filter: nullable[string]
    pattern_type_filter: int8 = since(1, default=3)
    principal_filter: nullable[string]
    host_filter: nullable[string]
    operation: int8
    permission_type: int8


@message(api_key=29, kind="response", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeAclsResponse:
    """Answers: DescribeAcls."""

    @struct
    class DescribeAclsResource:
        @struct
        class AclDescription:
            principal: string
            host: string
            operation: int8
            permission_type: int8

        resource_type: int8
        resource_name: string
        pattern_type: int8 = since(1, default=3)
        acls: array[AclDescription]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
    resources: array[DescribeAclsResource]


@message(api_key=30, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class CreateAclsRequest:
    """Asks: CreateAcls."""

    @struct
    class AclCreation:
        resource_type: int8
        resource_name: string
        resource_pattern_type: int8 = since(1, default=3)
        principal: string
        host: string
        operation: int8
        permission_type: int8

    creations: array[AclCreation]


@message(api_key=30, kind="response", versions=(0, 3), served=(1, 3), flexible=2)
class CreateAclsResponse:
    """Answers: CreateAcls."""

    @struct
    class AclCreationResult:
        error_code: int16
        error_message: nullable[string]

    throttle_time_ms: int32
    results: array[AclCreationResult]


@message(api_key=31, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class DeleteAclsRequest:
    """Asks: DeleteAcls."""

    @struct
    class DeleteAclsFilter:
        resource_type_filter: int8
        resource_name_filter: nullable[string]
        pattern_type_filter: int8 = since(1, default=3)
        principal_filter: nullable[string]
        host_filter: nullable[string]
        operation: int8
        permission_type: int8

    filters: array[DeleteAclsFilter]


@message(api_key=31, kind="response", versions=(0, 3), served=(1, 3), flexible=2)
class DeleteAclsResponse:
    """Answers: DeleteAcls."""

    @struct
    class DeleteAclsFilterResult:
        @struct
        class DeleteAclsMatchingAcl:
            error_code: int16
            error_message: nullable[string]
            resource_type: int8
            resource_name: string
            pattern_type: int8 = since(1, default=3)
            principal: string
            host: string
            operation: int8
            permission_type: int8

        error_code: int16
        error_message: nullable[string]
        matching_acls: array[DeleteAclsMatchingAcl]

    throttle_time_ms: int32
    filter_results: array[DeleteAclsFilterResult]
