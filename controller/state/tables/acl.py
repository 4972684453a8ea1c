"""One ACL, and the codes of its fields: types of resources and patterns, operations, permissions (KIP-11, KIP-290)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class AclResourceType(IntEnum):
    """What an ACL is for. UNKNOWN stands for every code that this release does not know."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """How the resource name of an ACL is compared. ANY and MATCH stand in filters only."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    """What an ACL allows or denies."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(IntEnum):
    """Whether an ACL allows or denies. ANY stands in filters only."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


# The name of the one resource of type CLUSTER, and what stands for any name, any host and any user.
CLUSTER_NAME = "kafka-cluster"
WILDCARD = "*"


class Acl(NamedTuple):
    """One rule; its numbers are those of Kafka's protocol, principals are `Type:Name`."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
