"""Calls about ACLs: describe, create, delete (KIP-140), and the texts of a pattern and of an entry."""

from __future__ import annotations

from typing import NamedTuple

from records.errors import Error
from records.messages.acls import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
from tools.client.admin import Call
from tools.client.exceptions import KafkaError
from tools.command_line.standard_streams import one_line
from tools.offline.acl_names import OPERATIONS, PATTERNS, PERMISSIONS, TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from tools.client.admin import Admin

ANY = 1


class Pattern(NamedTuple):
    """A resource pattern, or a filter for patterns; numbers are codes. name: None for any."""

    resource_type: int
    name: str | None
    pattern_type: int


class Entry(NamedTuple):
    """Who may do what, or may not; numbers are codes. principal: `Type:Name`."""

    principal: str
    host: str
    operation: int
    permission: int


Acl = tuple[Pattern, Entry]
ANY_PATTERN = Pattern(ANY, None, ANY)


def pattern_text(pattern: Pattern) -> str:
    kind, how = _name(TYPES, pattern.resource_type), _name(PATTERNS, pattern.pattern_type)
    return f"ResourcePattern(resourceType={kind}, name={one_line(pattern.name)}, patternType={how})"


def entry_text(entry: Entry) -> str:
    operation, permission = _name(OPERATIONS, entry.operation), _name(PERMISSIONS, entry.permission)
    principal, host = one_line(entry.principal), one_line(entry.host)
    return f"(principal={principal}, host={host}, operation={operation}, permissionType={permission})"


def _name(names: Sequence[str], code: int) -> str:
    return names[code] if 0 <= code < len(names) else names[0]


def describe_acls(admin: Admin, pattern: Pattern) -> list[Acl]:
    """All ACLs whose pattern matches. Raises Uncaught."""
    request = DescribeAclsRequest(
        resource_type_filter=pattern.resource_type,
        resource_name_filter=pattern.name,
        pattern_type_filter=pattern.pattern_type,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    acls: list[Acl] = admin.result(Call("describeAcls", lambda _: request, _acls_in))
    return acls


def _acls_in(response: Any) -> list[Acl]:
    if response.error_code:
        raise KafkaError(response.error_code, response.error_message)
    return [
        (
            Pattern(resource.resource_type, resource.resource_name, resource.pattern_type),
            Entry(acl.principal, acl.host, acl.operation, acl.permission_type),
        )
        for resource in response.resources
        for acl in resource.acls
    ]


def create_acls(admin: Admin, pattern: Pattern, entries: Iterable[Entry]) -> None:
    """Create the ACLs of a pattern. Raises Uncaught where the node refuses one."""
    request = CreateAclsRequest(
        creations=tuple(
            CreateAclsRequest.AclCreation(
                resource_type=pattern.resource_type,
                resource_name=str(pattern.name),
                resource_pattern_type=pattern.pattern_type,
                principal=entry.principal,
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for entry in entries
        )
    )

    def outcome(response: Any) -> None:
        results = response.results
        _check(results)
        if len(results) < len(request.creations):
            text = "The broker reported no creation result for the given ACL"
            raise KafkaError(Error.UNKNOWN_SERVER_ERROR, text)

    admin.result(Call("createAcls", lambda _: request, outcome))


def delete_acls(admin: Admin, pattern: Pattern, entries: Sequence[Entry]) -> None:
    """Delete these entries of the patterns that match, or all if there are none. Raises Uncaught."""
    wanted: Sequence[Entry | None] = entries or [None]
    request = DeleteAclsRequest(
        filters=tuple(
            DeleteAclsRequest.DeleteAclsFilter(
                resource_type_filter=pattern.resource_type,
                resource_name_filter=pattern.name,
                pattern_type_filter=pattern.pattern_type,
                principal_filter=entry.principal if entry else None,
                host_filter=entry.host if entry else None,
                operation=entry.operation if entry else ANY,
                permission_type=entry.permission if entry else ANY,
            )
            for entry in wanted
        )
    )

    def outcome(response: Any) -> None:
        results = response.filter_results
        _check(results)
        if len(results) < len(request.filters):
            text = "The broker reported no deletion result for the given filter."
            raise KafkaError(Error.UNKNOWN_SERVER_ERROR, text)
        for result in results:
            _check(result.matching_acls)

    admin.result(Call("deleteAcls", lambda _: request, outcome))


def _check(results: Iterable[Any]) -> None:
    """Check results. Raises KafkaError for the first error; where the node does not lead, the call is sent again."""
    failed = [result for result in results if result.error_code]
    moved = (Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER)
    for result in failed:
        if result.error_code in moved:
            raise KafkaError(result.error_code, result.error_message, is_final=False)
    if failed:
        raise KafkaError(failed[0].error_code, failed[0].error_message)
