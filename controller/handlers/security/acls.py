"""CreateAcls, DescribeAcls, DeleteAcls (KIP-140, KIP-290, KIP-801)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from controller.handlers.topics import random_topic_id
from controller.interface.results import USER_RECORDS_MAX, Result, check_record_count, raised_text
from controller.state.tables.acl import (
    CLUSTER_NAME,
    WILDCARD,
    Acl,
    AclOperation,
    AclResourceType,
    PatternType,
    Permission,
)
from records.errors import ApiError, Error
from records.features.record_versions import CIDR_ACLS
from records.java.cidr import InvalidCidr, network_of
from records.messages.acls import CreateAclsResponse, DeleteAclsResponse, DescribeAclsResponse
from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.acls import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest

Created = CreateAclsResponse.AclCreationResult
FilterResult = DeleteAclsResponse.DeleteAclsFilterResult
Described = DescribeAclsResponse.DescribeAclsResource

E = TypeVar("E", bound=IntEnum)

# The fields of ACLs and of filters that are codes.
_CODES = frozenset({
    "operation", "permission_type", "resource_type", "resource_pattern_type", "resource_type_filter",
    "pattern_type_filter",
})  # fmt: skip

# Stock does not set this field where nothing is wrong.
_NO_TEXT = ""


def is_local(_state: State, _context: RequestContext, _request: Any, env: Env) -> bool:
    """Without an authorizer every controller answers that there is none."""
    return env.access is None


def create_acls(state: State, _context: RequestContext, request: CreateAclsRequest, env: Env) -> Result:
    """CreateAcls: each ACL is created or refused on its own, in one batch; one that is there already counts as created.

    Raises ApiError: SECURITY_DISABLED without an authorizer; UNKNOWN_SERVER_ERROR for a code that only filters have.
    """
    if env.access is None:
        raise ApiError(Error.SECURITY_DISABLED, "No Authorizer is configured.")
    pause = env.slices.pause
    if any(map(is_for_filters, env.slices.spread(request.creations))):
        # Java makes no ACL of these, so stock fails the whole request.
        raise ApiError(Error.UNKNOWN_SERVER_ERROR)
    new: dict[Acl, None] = {}
    results = []
    for creation in request.creations:
        pause()
        try:
            acl = check_creation(creation)
            if env.release.knows(CIDR_ACLS):
                check_host(acl.host, state.metadata_version)
        except ApiError as error:
            results.append(Created(error_code=error.code, error_message=raised_text(error)))
            continue
        if not state.acls.has(acl):
            new[acl] = None
        results.append(Created(error_code=Error.NONE, error_message=_NO_TEXT))
        check_record_count(len(new))
    records = []
    for acl in new:
        pause()
        records.append((AccessControlEntryRecord(id=new_id(state, env), **acl._asdict()), 0))
    return Result(CreateAclsResponse(throttle_time_ms=0, results=tuple(results)), records, state.acls.last_change())


def new_id(state: State, env: Env) -> bytes:
    while True:
        acl_id = random_topic_id(env)
        if acl_id not in state.acls:
            return acl_id


def is_for_filters(creation: Any) -> bool:
    """Whether one of its codes is allowed in filters only."""
    return (
        creation.resource_type == AclResourceType.ANY
        or creation.resource_pattern_type in (PatternType.ANY, PatternType.MATCH)
        or creation.operation == AclOperation.ANY
        or creation.permission_type == Permission.ANY
    )


def check_creation(creation: Any) -> Acl:
    """The ACL in a request to create one. Raises ApiError(INVALID_REQUEST) where it is not valid."""
    resource_type = of_code(AclResourceType, creation.resource_type)
    pattern_type = of_code(PatternType, creation.resource_pattern_type)
    operation = of_code(AclOperation, creation.operation)
    permission = of_code(Permission, creation.permission_type)
    if resource_type is AclResourceType.CLUSTER and creation.resource_name != CLUSTER_NAME:
        raise invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not creation.resource_name:
        raise invalid("Invalid empty resource name")
    if resource_type is AclResourceType.UNKNOWN:
        raise invalid(f"Invalid resourceType {resource_type.name}")
    if pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise invalid(f"Invalid patternType {pattern_type.name}")
    if operation is AclOperation.UNKNOWN:
        raise invalid(f"Invalid operation {operation.name}")
    if permission not in (Permission.DENY, Permission.ALLOW):
        raise invalid(f"Invalid permissionType {permission.name}")
    if ":" not in creation.principal:
        raise invalid(
            f"Could not parse principal from `{creation.principal}` (no colon is present separating the principal type "
            "from the principal name)"
        )
    return Acl(
        int(resource_type),
        creation.resource_name,
        int(pattern_type),
        creation.principal,
        creation.host,
        int(operation),
        int(permission),
    )


def check_host(host: str, metadata_version: int) -> None:
    """Kafka 4.4's check of a host, by KIP-1276: `*`, any text without a slash, or CIDR notation from 4.4-IV1 on.

    Raises ApiError: INVALID_REQUEST, UNSUPPORTED_VERSION.
    """
    if not host:
        raise invalid("Host pattern cannot be null or empty")
    if "/" not in host:
        return
    if metadata_version < CIDR_ACLS:
        text = "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."
        raise ApiError(Error.UNSUPPORTED_VERSION, text)
    try:
        network_of(host)
    except InvalidCidr as error:
        raise invalid(f"Invalid CIDR notation '{host}': {error}") from None


def invalid(text: str) -> ApiError:
    return ApiError(Error.INVALID_REQUEST, text)


def of_code(cls: type[E], code: int) -> E:
    """The member with this code; UNKNOWN where there is none."""
    return cls(code) if code in cls._value2member_map_ else cls(0)


def unreadable(request: Any) -> str | None:
    """Why Kafka does not parse this request: it has the code 0, which stands for unknown codes. None if it does."""
    parts = getattr(request, "creations", None) or getattr(request, "filters", None) or (request,)
    names = [field.name for field in parts[0].__schema__.fields if field.name in _CODES]
    for name in names:
        if any(getattr(part, name) == 0 for part in parts):
            return f"{type(request).__name__} has the code 0, for UNKNOWN, in {name}"
    return None


class Filter(NamedTuple):
    """What ACLs a request is about; None for any text."""

    resource_type: AclResourceType
    resource_name: str | None
    pattern_type: PatternType
    principal: str | None
    host: str | None
    operation: AclOperation
    permission: Permission

    def matches(self, acl: Acl) -> bool:
        if self.resource_type not in (AclResourceType.ANY, acl.resource_type):
            return False
        if not self._covers(acl):
            return False
        if self.principal is not None and self.principal != acl.principal:
            return False
        if self.host is not None and self.host != acl.host:
            return False
        if self.operation not in (AclOperation.ANY, acl.operation):
            return False
        return self.permission in (Permission.ANY, acl.permission_type)

    def _covers(self, acl: Acl) -> bool:
        """Whether pattern type and name fit; those of type MATCH fit every pattern that the named resource has."""
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, acl.pattern_type):
            return False
        name = self.resource_name
        if name is None:
            return True
        if self.pattern_type is not PatternType.MATCH:
            return name == acl.resource_name
        if acl.pattern_type == PatternType.LITERAL:
            return acl.resource_name in (name, WILDCARD)
        return name.startswith(acl.resource_name)


def filter_of(asked: Any) -> Filter:
    """The filter of a DescribeAcls request, or one of a DeleteAcls request."""
    return Filter(
        of_code(AclResourceType, asked.resource_type_filter),
        asked.resource_name_filter,
        of_code(PatternType, asked.pattern_type_filter),
        asked.principal_filter,
        asked.host_filter,
        of_code(AclOperation, asked.operation),
        of_code(Permission, asked.permission_type),
    )


def describe_acls(state: State, _context: RequestContext, request: DescribeAclsRequest, env: Env) -> Result:
    """DescribeAcls: the ACLs that match, by their resource patterns.

    Raises ApiError(SECURITY_DISABLED) without an authorizer.
    """
    if env.access is None:
        raise ApiError(Error.SECURITY_DISABLED, "No Authorizer is configured on the broker")
    wanted = filter_of(request)
    by_pattern: dict[tuple[int, str, int], dict[Acl, None]] = {}
    for acl in env.slices.spread(list(state.acls.values())):  # they may change in a pause
        if wanted.matches(acl):
            by_pattern.setdefault((acl.resource_type, acl.resource_name, acl.pattern_type), {})[acl] = None
    resources = []
    for (resource_type, name, pattern_type), acls in by_pattern.items():
        described = [
            Described.AclDescription(
                principal=acl.principal, host=acl.host, operation=acl.operation, permission_type=acl.permission_type
            )
            for acl in env.slices.spread(acls)
        ]
        resources.append(
            Described(resource_type=resource_type, resource_name=name, pattern_type=pattern_type, acls=tuple(described))
        )
    response = DescribeAclsResponse(
        throttle_time_ms=0, error_code=Error.NONE, error_message=_NO_TEXT, resources=tuple(resources)
    )
    return Result(response, rests_on=state.acls.last_change())


def delete_acls(state: State, _context: RequestContext, request: DeleteAclsRequest, env: Env) -> Result:
    """DeleteAcls: all ACLs that match one of the filters, in one batch.

    Raises ApiError: SECURITY_DISABLED without an authorizer; INVALID_REQUEST where too many match.
    """
    if env.access is None:
        raise ApiError(Error.SECURITY_DISABLED, "No Authorizer is configured.")
    ids: dict[bytes, None] = {}
    results = []
    by_name: dict[str, list[tuple[bytes, Acl]]] = {}
    if len(request.filters) > 1:
        for id_, acl in env.slices.spread(state.acls.items()):
            by_name.setdefault(acl.resource_name, []).append((id_, acl))
    for asked in request.filters:
        wanted = filter_of(asked)
        try:
            check_filter(wanted)
        except ApiError as error:
            results.append(FilterResult(error_code=error.code, error_message=raised_text(error), matching_acls=()))
            continue
        matching = []
        name = wanted.resource_name
        is_exact = name is not None and wanted.pattern_type is not PatternType.MATCH and len(request.filters) > 1
        for id_, acl in env.slices.spread(by_name.get(name or "", ()) if is_exact else state.acls.items()):
            if wanted.matches(acl):
                if len(ids) >= USER_RECORDS_MAX:
                    raise invalid(f"Cannot remove more than {USER_RECORDS_MAX} acls in a single delete operation.")
                ids[id_] = None
                matching.append(acl)
        results.append(
            FilterResult(
                error_code=Error.NONE,
                error_message=None,
                matching_acls=tuple(map(deletion_result, env.slices.spread(matching))),
            )
        )
    records = [(RemoveAccessControlEntryRecord(id=id_), 0) for id_ in env.slices.spread(ids)]
    response = DeleteAclsResponse(throttle_time_ms=0, filter_results=tuple(results))
    return Result(response, records, state.acls.last_change())


def check_filter(wanted: Filter) -> None:
    """Raises ApiError(INVALID_REQUEST) for codes that this release does not know."""
    if wanted.resource_type is AclResourceType.UNKNOWN or wanted.pattern_type is PatternType.UNKNOWN:
        raise invalid("Unknown patternFilter.")
    if wanted.operation is AclOperation.UNKNOWN or wanted.permission is Permission.UNKNOWN:
        raise invalid("Unknown entryFilter.")


def deletion_result(acl: Acl) -> FilterResult.DeleteAclsMatchingAcl:
    return FilterResult.DeleteAclsMatchingAcl(error_code=Error.NONE, error_message=None, **acl._asdict())
