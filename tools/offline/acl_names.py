"""The names of resource types, pattern types, operations and permissions of ACLs, in the order of their codes."""

from __future__ import annotations

TYPES = ("UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
PATTERNS = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
OPERATIONS = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
PERMISSIONS = ("UNKNOWN", "ANY", "DENY", "ALLOW")


def option_name(operation: str) -> str:
    """The name of an operation as an option has it: `DescribeConfigs`."""
    return "".join(word.capitalize() for word in operation.split("_"))


# What options may name.
PATTERN_TYPES = PATTERNS[1:]
OPERATION_NAMES = tuple(map(option_name, OPERATIONS[2:]))
ALL = OPERATION_NAMES[0]
