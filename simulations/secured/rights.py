"""The reference of the authorizer, by Kafka's documentation (KIP-11, KIP-290). It shares no code with the product.

It decides by the ACLs of the committed log below an offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from simulations.cluster.metadata.image import Settling, batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The numbers of operations, resource types, pattern types and permissions on the wire.
ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION = 2, 3, 4, 5, 6, 7, 8, 9
DESCRIBE_CONFIGS, ALTER_CONFIGS, CREATE_TOKENS = 10, 11, 13
TOPIC, GROUP, CLUSTER, USER = 2, 3, 4, 7
# Resource types of configs; that of a topic is that of its ACLs.
GROUP_CONFIG = 32
LITERAL, PREFIXED = 3, 4
DENY, ALLOW = 2, 3
ANY = "*"
CLUSTER_NAME = "kafka-cluster"

# API key -> the operation on the cluster that its caller must be allowed (ControllerApis).
NEEDS = {
    1: CLUSTER_ACTION, 52: CLUSTER_ACTION, 53: CLUSTER_ACTION, 54: CLUSTER_ACTION, 55: DESCRIBE, 59: CLUSTER_ACTION,
    58: CLUSTER_ACTION, 62: CLUSTER_ACTION, 63: CLUSTER_ACTION, 64: ALTER, 70: CLUSTER_ACTION, 56: CLUSTER_ACTION,
    73: CLUSTER_ACTION, 43: ALTER, 45: ALTER, 46: DESCRIBE, 57: ALTER, 67: CLUSTER_ACTION, 49: ALTER_CONFIGS,
    29: DESCRIBE, 30: ALTER, 31: ALTER, 51: ALTER, 60: ALTER,
}  # fmt: skip
# API keys whose permission depends on the resources in the request.
BY_RESOURCE = frozenset((19, 20, 37, 32, 33, 44))

# Operation -> operations that imply it in an ACL that allows.
_AS_GOOD = {DESCRIBE: (READ, WRITE, DELETE, ALTER), DESCRIBE_CONFIGS: (ALTER_CONFIGS,)}


class Rule(NamedTuple):
    """An ACL as the log has it."""

    kind: int
    name: str
    pattern: int
    principal: str
    host: str
    operation: int
    permission: int


class Question(NamedTuple):
    """One question to the authorizer."""

    principal: str
    host: str
    operation: int
    kind: int
    name: str


def covers(rule: Rule, question: Question) -> bool:
    """Whether the pattern of an ACL matches the resource."""
    if rule.kind != question.kind:
        return False
    if rule.pattern == PREFIXED:
        return question.name.startswith(rule.name)
    return rule.name == question.name or (rule.name == ANY and not question.name.startswith(ANY))


def is_allowed(question: Question, rules: Sequence[Rule], super_users: frozenset[str], *, by_default: bool) -> bool:
    """Whether the principal is allowed the operation. by_default: allow.everyone.if.no.acl.found."""
    if question.principal in {f"User:{name}" for name in super_users}:
        return True
    about = [rule for rule in rules if covers(rule, question)]
    if not about:
        return by_default
    of_sender = [
        rule for rule in about if rule.principal in (question.principal, "User:*") and rule.host in (ANY, question.host)
    ]
    if any(rule.permission == DENY and rule.operation in (ALL, question.operation) for rule in of_sender):
        return False
    good = (ALL, question.operation, *_AS_GOOD.get(question.operation, ()))
    return any(rule.permission == ALLOW and rule.operation in good for rule in of_sender)


class Rules:
    """The ACLs of the committed log. batches: of the log; the list grows at its end."""

    def __init__(self, batches: Sequence[bytes]) -> None:
        self._batches = batches
        self._taken = 0
        self._settling = Settling()
        # (end offset of the record, id, the ACL; None if it was removed), in log order.
        self._changes: list[tuple[int, bytes, Rule | None]] = []

    def at(self, end_offset: int) -> list[Rule]:
        """The ACLs below an offset."""
        self._take()
        rules: dict[bytes, Rule] = {}
        for offset, id_, rule in self._changes:
            if offset > end_offset:
                break
            if rule is None:
                rules.pop(id_, None)
            else:
                rules[id_] = rule
        return list(rules.values())

    def has_changed_between(self, begin: int, end: int) -> bool:
        """Whether the ACLs changed between two offsets."""
        self._take()
        return any(begin < offset <= end for offset, _, _ in self._changes)

    def _take(self) -> None:
        for data in self._batches[self._taken :]:
            for _, _, batch in batches_of(data):
                self._changes.extend(_changes_of(self._settling.take(batch)))
        self._taken = len(self._batches)


def _changes_of(records: Sequence[tuple[int, Any]]) -> Iterator[tuple[int, bytes, Rule | None]]:
    for offset, record in records:
        if type(record) is AccessControlEntryRecord:
            rule = Rule(
                record.resource_type, record.resource_name, record.pattern_type, record.principal, record.host,
                record.operation, record.permission_type,
            )  # fmt: skip
            yield offset + 1, record.id, rule
        elif type(record) is RemoveAccessControlEntryRecord:
            yield offset + 1, record.id, None
