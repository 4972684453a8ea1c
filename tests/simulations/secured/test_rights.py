"""The reference of the authorizer follows KIP-11 and KIP-290."""

from __future__ import annotations

import pytest

from simulations.secured.rights import (
    ALL,
    ALLOW,
    ALTER,
    ANY,
    CREATE,
    DENY,
    DESCRIBE,
    LITERAL,
    PREFIXED,
    READ,
    TOPIC,
    Question,
    Rule,
    is_allowed,
)

WHO, HOST = "User:alice", "10.0.0.1"


def rule(
    operation: int,
    permission: int = ALLOW,
    *,
    name: str = "a",
    pattern: int = LITERAL,
    principal: str = WHO,
    host: str = ANY,
) -> Rule:
    return Rule(TOPIC, name, pattern, principal, host, operation, permission)


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ([], False),
        ([rule(CREATE)], True),
        ([rule(ALL)], True),
        ([rule(ALTER)], False),
        ([rule(CREATE), rule(CREATE, DENY)], False),
        ([rule(CREATE), rule(ALL, DENY)], False),
        ([rule(CREATE), rule(CREATE, DENY, host="10.9.9.9")], True),
        ([rule(CREATE, host=HOST)], True),
        ([rule(CREATE, host="10.9.9.9")], False),
        ([rule(CREATE, principal="User:*")], True),
        ([rule(CREATE, principal="User:bob")], False),
        ([rule(CREATE, name="ab")], False),
        ([rule(CREATE, name=ANY)], True),
        ([rule(CREATE, pattern=PREFIXED)], True),
        ([rule(CREATE, name="b", pattern=PREFIXED)], False),
    ],
)
def test_who_may_create_a_topic(rules: list[Rule], allowed: bool) -> None:
    question = Question(WHO, HOST, CREATE, TOPIC, "a")

    assert is_allowed(question, rules, frozenset(), by_default=False) is allowed


def test_what_implies_another_right_does_so_only_where_it_allows() -> None:
    question = Question(WHO, HOST, DESCRIBE, TOPIC, "a")

    def may(*rules: Rule) -> bool:
        return is_allowed(question, rules, frozenset(), by_default=False)

    assert [may(rule(READ)), may(rule(DESCRIBE), rule(READ, DENY)), may(rule(READ), rule(DESCRIBE, DENY))] == [
        True, True, False,
    ]  # fmt: skip


def test_the_default_counts_where_no_rule_is_about_the_resource() -> None:
    question = Question(WHO, HOST, CREATE, TOPIC, "a")

    def may(*rules: Rule) -> bool:
        return is_allowed(question, rules, frozenset({"root"}), by_default=True)

    assert [may(), may(rule(CREATE, name="b")), may(rule(ALTER, principal="User:bob"))] == [True, True, False]
    assert is_allowed(
        question._replace(principal="User:root"), [rule(ALL, DENY)], frozenset({"root"}), by_default=False
    )
