"""The names in ACLs stand in the order of Kafka's codes."""

from __future__ import annotations

from controller.state.tables.acl import AclOperation, AclResourceType, PatternType, Permission
from tools.offline.acl_names import OPERATION_NAMES, OPERATIONS, PATTERNS, PERMISSIONS, TYPES, option_name


def test_the_place_of_a_name_is_its_code() -> None:
    assert tuple(each.name for each in sorted(AclOperation)) == OPERATIONS
    assert tuple(each.name for each in sorted(PatternType)) == PATTERNS
    assert tuple(each.name for each in sorted(Permission)) == PERMISSIONS
    assert tuple(each.name for each in sorted(AclResourceType)) == TYPES


def test_an_operation_is_written_as_one_word_in_an_option() -> None:
    assert option_name("DESCRIBE_CONFIGS") == "DescribeConfigs"
    assert OPERATION_NAMES[:2] == ("All", "Read")
