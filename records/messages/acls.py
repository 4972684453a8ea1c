"""Access control lists (KIP-140)."""

from records.schema import message, since, struct
from records.wire import array, int8, int16, int32, nullable, string


@message(api_key=29, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeAclsRequest:
    """Asks for the ACLs that match a filter (KIP-140, KIP-290).

    resource_type_filter: 1 any, or a resource type.
    resource_name_filter: null for any.
    pattern_type_filter: 1 any, 2 whatever matches the name, 3 literal, 4 prefixed.
    principal_filter: null for any.
    host_filter: null for any.
    operation: 1 any, or an operation.
    permission_type: 1 any, 2 deny, 3 allow.
    """

    resource_type_filter: int8
    resource_name_filter: nullable[string]
    pattern_type_filter: int8 = since(1, default=3)
    principal_filter: nullable[string]
    host_filter: nullable[string]
    operation: int8
    permission_type: int8


@message(api_key=29, kind="response", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeAclsResponse:
    """The ACLs that match.

    resources: the ACLs, by the resource pattern that they are for.
    acls: the ACLs of the pattern.
    """

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
    """Creates ACLs (KIP-140, KIP-290).

    creations: the ACLs to create.
    resource_pattern_type: 3 literal, 4 prefixed.
    """

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
    """Says for each ACL whether it was created, in the order of the request."""

    @struct
    class AclCreationResult:
        error_code: int16
        error_message: nullable[string]

    throttle_time_ms: int32
    results: array[AclCreationResult]


@message(api_key=31, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class DeleteAclsRequest:
    """Deletes the ACLs that match filters (KIP-140, KIP-290).

    filters: the ACLs to delete.
    resource_type_filter: 1 any, or a resource type.
    resource_name_filter: null for any.
    pattern_type_filter: 1 any, 2 whatever matches the name, 3 literal, 4 prefixed.
    principal_filter: null for any.
    host_filter: null for any.
    operation: 1 any, or an operation.
    permission_type: 1 any, 2 deny, 3 allow.
    """

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
    """Says for each filter which ACLs were deleted, in the order of the request.

    filter_results: one for each filter.
    matching_acls: the ACLs that matched.
    """

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
