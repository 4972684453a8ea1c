"""kafka-acls without a cluster: the ACLs that its options stand for, its question, and errors of single ACLs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from controller.state.tables.acl import AclOperation, AclResourceType, PatternType, Permission
from records.errors import Error
from records.messages.acls import CreateAclsResponse, DeleteAclsResponse, DescribeAclsResponse
from tests.tools.client.test_admin import Node, cluster, nodes
from tests.tools.kafka.cases import GOLDEN, ours
from tools.command_line.options import read
from tools.kafka.acls.acl_arguments import OPTIONS
from tools.kafka.acls.acl_calls import Entry, Pattern
from tools.kafka.acls.acl_options import CLUSTER, SUPPORTED, entries_by_resource
from tools.offline import acl_names

if TYPE_CHECKING:
    from tests.tools.kafka.cases import Case

DESCRIBE_CLUSTER, DESCRIBE, CREATE, DELETE = 60, 29, 30, 31
TOPIC, GROUP, TRANSACTIONAL_ID, LITERAL = 2, 3, 5, 3
ALLOW = 3
READ, WRITE, CREATE_ONE, DESCRIBE_ONE, IDEMPOTENT_WRITE = 3, 4, 5, 8, 12


def entries_of(*arguments: str) -> dict[Pattern, set[tuple[str, int]]]:
    """Resource -> principal and operation of each entry."""
    found = entries_by_resource(read(OPTIONS, arguments))
    return {
        pattern: {(entry.principal, entry.operation) for entry in entries} for pattern, entries in found.items()
    }  # fmt: skip


def test_a_producer_needs_its_topics_its_transactional_id_and_if_idempotent_the_cluster() -> None:
    words = "--producer --topic t --topic u --transactional-id i --group g --idempotent --allow-principal User:a"
    found = entries_of(*words.split())

    on_topic = {("User:a", operation) for operation in (WRITE, DESCRIBE_ONE, CREATE_ONE)}
    assert found == {
        Pattern(TOPIC, "t", LITERAL): on_topic,
        Pattern(TOPIC, "u", LITERAL): on_topic,
        CLUSTER: {("User:a", IDEMPOTENT_WRITE)},
        Pattern(TRANSACTIONAL_ID, "i", LITERAL): {("User:a", WRITE), ("User:a", DESCRIBE_ONE)},
    }


def test_who_produces_and_consumes_has_both_sets_of_operations_on_the_topic() -> None:
    found = entries_of(*["--producer", "--consumer", "--topic", "t", "--group", "g", "--allow-principal", "User:a"])

    assert found == {
        Pattern(TOPIC, "t", LITERAL): {("User:a", each) for each in (READ, WRITE, CREATE_ONE, DESCRIBE_ONE)},
        Pattern(GROUP, "g", LITERAL): {("User:a", READ)},
    }


def test_each_principal_gets_each_operation_from_each_of_its_hosts() -> None:
    words = "--topic t --operation Read --allow-principal User:a --allow-host h --allow-host i --deny-principal User:b"
    found = entries_by_resource(read(OPTIONS, words.split()))

    assert found == {
        Pattern(TOPIC, "t", LITERAL): [
            Entry("User:a", "h", READ, ALLOW), Entry("User:a", "i", READ, ALLOW), Entry("User:b", "*", READ, 2),
        ]
    }  # fmt: skip


def test_every_kind_of_resource_supports_some_operation() -> None:
    assert sorted(SUPPORTED) == list(range(2, 8))


def test_names_are_those_of_the_protocol() -> None:
    found = (acl_names.TYPES, acl_names.PATTERNS, acl_names.OPERATIONS, acl_names.PERMISSIONS)

    assert found == tuple(tuple(kind.__members__) for kind in (AclResourceType, PatternType, AclOperation, Permission))


def described(*acls: tuple[str, int]) -> DescribeAclsResponse:
    """A response with ACLs of topic t: principal and operation of each."""
    resource = DescribeAclsResponse.DescribeAclsResource
    listed = tuple(
        resource.AclDescription(principal=principal, host="*", operation=operation, permission_type=ALLOW)
        for principal, operation in acls
    )
    resources = (resource(resource_type=TOPIC, resource_name="t", pattern_type=LITERAL, acls=listed),)
    return DescribeAclsResponse(
        throttle_time_ms=0, error_code=0, error_message=None, resources=resources if acls else ()
    )


def created(*codes: int) -> CreateAclsResponse:
    result = CreateAclsResponse.AclCreationResult
    return CreateAclsResponse(
        throttle_time_ms=0, results=tuple(result(error_code=code, error_message=f"error {code}") for code in codes)
    )


def run(answers: dict[int, Any], *arguments: str) -> tuple[Case, Node]:
    with nodes(answers) as (node,):
        node.answers[DESCRIBE_CLUSTER] = lambda: cluster(1, node.port)
        return ours("acls", ["--bootstrap-controller", f"127.0.0.1:{node.port}", *arguments]), node


ADD = ("--add", "--topic", "t", "--allow-principal", "User:a", "--operation", "Read", "--operation", "Write")


def test_only_acls_that_are_not_there_are_sent() -> None:
    found, node = run({DESCRIBE: lambda: described(("User:a", READ)), CREATE: lambda: created(0)}, *ADD)

    resource = "ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)"
    assert found["stdout"] == (
        f"Acl (pattern={resource}, entry=(principal=User:a, host=*, operation=READ, permissionType=ALLOW)) already "
        f"exists.\nAdding ACLs for resource `{resource}`: \n \t(principal=User:a, host=*, operation=WRITE, "
        "permissionType=ALLOW)\n\n"
    )
    assert (found["exit"], node.asked) == (0, [DESCRIBE_CLUSTER, DESCRIBE, CREATE])


def test_one_acl_that_is_refused_fails_the_call() -> None:
    found, _ = run({DESCRIBE: described, CREATE: lambda: created(0, Error.INVALID_REQUEST)}, *ADD)

    assert found["exit"] == 1
    assert found["stdout"].endswith(
        "Error while executing ACL command: org.apache.kafka.common.errors.InvalidRequestException: error 42\n"
        "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.InvalidRequestException: error 42\n"
        "Caused by: org.apache.kafka.common.errors.InvalidRequestException: error 42\n\n"
    )


def test_a_result_that_is_missing_fails_the_call() -> None:
    found, _ = run({DESCRIBE: described, CREATE: lambda: created(0)}, *ADD)

    assert "The broker reported no creation result for the given ACL" in found["stdout"]
    assert found["exit"] == 1


def test_a_node_that_no_longer_leads_is_followed_by_the_leader() -> None:
    codes = [Error.NOT_CONTROLLER, 0]
    found, node = run({DESCRIBE: described, CREATE: lambda: created(0, codes.pop(0))}, *ADD)

    assert (found["exit"], node.asked.count(CREATE)) == (0, 2)


def test_an_acl_that_cannot_be_deleted_fails_the_call() -> None:
    result = DeleteAclsResponse.DeleteAclsFilterResult
    failed = result.DeleteAclsMatchingAcl(
        error_code=Error.UNKNOWN_SERVER_ERROR, error_message="not deleted", resource_type=TOPIC, resource_name="t",
        pattern_type=LITERAL, principal="User:a", host="*", operation=READ, permission_type=ALLOW,
    )  # fmt: skip
    answer = DeleteAclsResponse(
        throttle_time_ms=0, filter_results=(result(error_code=0, error_message=None, matching_acls=(failed,)),)
    )

    found, _ = run({DELETE: lambda: answer}, "--remove", "--topic", "t", "--force")

    assert found["exit"] == 1
    assert "org.apache.kafka.common.errors.UnknownServerException: not deleted" in found["stdout"]


def test_without_a_terminal_nothing_is_removed() -> None:
    found, node = run({}, "--remove", "--topic", "t")

    assert found["stdout"].startswith(
        "Are you sure you want to delete all ACLs for resource filter `ResourcePattern(resourceType=TOPIC, name=t, "
        "patternType=LITERAL)`? (y/n)\nError while executing ACL command: There is no terminal on which to confirm; "
        "--force removes the ACLs without a question.\n"
    )
    assert (found["exit"], node.asked) == (1, [])


@pytest.mark.parametrize(("answer", "asked"), [("y", [DESCRIBE_CLUSTER, DELETE]), ("Y", [DESCRIBE_CLUSTER, DELETE]),
                                               ("n", []), ("yes", []), ("", [])])  # fmt: skip
def test_acls_are_removed_if_the_answer_is_y(answer: str, asked: list[int]) -> None:
    result = DeleteAclsResponse.DeleteAclsFilterResult(error_code=0, error_message=None, matching_acls=())
    with nodes({DELETE: lambda: DeleteAclsResponse(throttle_time_ms=0, filter_results=(result,))}) as (node,):
        node.answers[DESCRIBE_CLUSTER] = lambda: cluster(1, node.port)
        script = "import sys; from tools.kafka.acls.acls import main; sys.exit(main())"
        given = ["--bootstrap-controller", f"127.0.0.1:{node.port}", "--remove", "--topic", "t"]
        terminal, end = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", script, *given], stdin=end, stdout=subprocess.PIPE, text=True, cwd=GOLDEN.parents[2]
        ) as process:
            os.close(end)
            os.write(terminal, f"{answer}\n".encode())
            output = process.communicate()[0]
        os.close(terminal)

        assert (process.returncode, node.asked) == (0, asked)
        assert output.endswith("? (y/n)\n")
