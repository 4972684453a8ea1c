"""StandardAuthorizer: StandardAuthorizerTest's cases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.interface.access import Action
from controller.interface.inputs import Principal
from controller.rules.authorizer import StandardAuthorizer
from controller.state.tables.acl import Acl, AclOperation, AclResourceType, PatternType, Permission
from controller.state.tables.acl_index import AclIndex
from records.errors import ApiError, Error

TOPIC, GROUP = AclResourceType.TOPIC, AclResourceType.GROUP
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALLOW, DENY = Permission.ALLOW, Permission.DENY
READ, WRITE, ALL, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.ALL, AclOperation.DESCRIBE


def acl(
    name: str = "foo",
    permission: Permission = ALLOW,
    operation: AclOperation = READ,
    *,
    pattern: PatternType = LITERAL,
    principal: str = "User:bob",
    host: str = "*",
) -> Acl:
    return Acl(int(TOPIC), name, int(pattern), principal, host, int(operation), int(permission))


def action(
    name: str = "foo",
    operation: AclOperation = READ,
    *,
    user: str = "bob",
    kind: str = "User",
    host: str = "10.0.0.1",
    resource_type: AclResourceType = TOPIC,
) -> Action:
    return Action(Principal(kind, user), host, "CONTROLLER", 19, operation, resource_type, name)


def index(*acls: Acl) -> AclIndex:
    found = AclIndex()
    found.put_all((bytes([number]), each) for number, each in enumerate(acls))
    return found


def allowed(asked: Action, *acls: Acl, default: bool = False) -> bool:
    return StandardAuthorizer({"User:root"}, allows_without_acls=default).decide(asked, index(*acls)).allowed


def test_a_super_user_is_allowed_everything_even_before_the_acls_are_loaded() -> None:
    authorizer = StandardAuthorizer({"User:root"})

    assert authorizer.decide(action(user="root"), None) == (True, "SuperUser")
    assert authorizer.decide(action(user="root"), index(acl(principal="User:root", permission=DENY))).allowed


def test_before_the_acls_are_loaded_nothing_is_decided_for_others() -> None:
    with pytest.raises(ApiError) as error:
        StandardAuthorizer({"User:root"}, allows_without_acls=True).decide(action(), None)

    assert error.value.code is Error.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("default", [False, True])
def test_without_an_acl_for_the_resource_the_default_decides(default: bool) -> None:
    assert allowed(action(), default=default) is default
    assert allowed(action("bar"), acl("foo"), default=default) is default
    assert allowed(action(resource_type=GROUP), acl("foo"), default=default) is default


def test_an_acl_for_other_senders_overrides_the_default_for_the_resource() -> None:
    assert not allowed(action(), acl(principal="User:ann"), default=True)
    assert not allowed(action(), acl("*", principal="User:ann"), default=True)
    assert not allowed(action(), acl("f", principal="User:ann", pattern=PREFIXED), default=True)


def test_a_deny_acl_overrides_every_allow_acl() -> None:
    assert not allowed(action(), acl(), acl("*", DENY, principal="User:*"))
    assert not allowed(action(), acl(), acl("f", DENY, pattern=PREFIXED))
    assert not allowed(action(), acl("*"), acl(permission=DENY))
    assert allowed(action(), acl("*"), acl(permission=DENY, operation=WRITE))


@pytest.mark.parametrize(
    ("name", "rule", "covers"),
    [
        ("foo", acl("foo"), True),
        ("foo", acl("fo"), False),
        ("foo", acl("fo", pattern=PREFIXED), True),
        ("foo", acl("foo", pattern=PREFIXED), True),
        ("foo", acl("food", pattern=PREFIXED), False),
        ("foo", acl("*"), True),
        # A prefix is not a wildcard.
        ("foo", acl("*", pattern=PREFIXED), False),
        ("*foo", acl("*", pattern=PREFIXED), True),
        ("*", acl("*"), True),
        # A quirk of stock's search.
        ("*foo", acl("*"), False),
    ],
)
def test_a_pattern_covers_its_own_name_names_that_begin_with_it_or_all(name: str, rule: Acl, covers: bool) -> None:
    assert allowed(action(name), rule) is covers


def test_an_acl_is_for_one_principal_or_for_every_user() -> None:
    assert allowed(action(user="x"), acl(principal="User:*"))
    assert allowed(action(kind="Role", user="x"), acl(principal="User:*"))
    assert allowed(action(kind="Role", user="bob"), acl(principal="Role:bob"))
    assert not allowed(action(kind="Role", user="bob"), acl())
    assert not allowed(action(kind="Role", user="bob"), acl(principal="Role:*"))
    assert allowed(action(user="a:b"), acl(principal="User:a:b"))
    assert not allowed(action(kind="User:a", user="b"), acl(principal="User:a:b"))


def test_a_principal_named_like_the_user_wildcard_is_refused() -> None:
    with pytest.raises(ApiError) as error:
        allowed(action(user="*"), acl(principal="User:*"))

    assert error.value.code is Error.UNKNOWN_SERVER_ERROR


def test_an_acl_is_for_one_host_or_for_all() -> None:
    assert allowed(action(), acl(host="10.0.0.1"))
    assert not allowed(action(), acl(host="10.0.0.2"))
    assert not allowed(action(), acl(host="10.0.0.0/8"))


IMPLYING = {
    DESCRIBE: {DESCRIBE, READ, WRITE, AclOperation.DELETE, AclOperation.ALTER, ALL},
    AclOperation.DESCRIBE_CONFIGS: {AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS, ALL},
}


@pytest.mark.parametrize("asked", [each for each in AclOperation if each > ALL])
def test_allow_acls_imply_other_operations_and_deny_acls_do_not(asked: AclOperation) -> None:
    every = [each for each in AclOperation if each >= ALL]

    assert {each for each in every if allowed(action(operation=asked), acl(operation=each))} == IMPLYING.get(
        asked, {asked, ALL}
    )
    assert {
        each
        for each in every
        if not allowed(action(operation=asked), acl(operation=ALL), acl(permission=DENY, operation=each))
    } == {asked, ALL}


def test_a_host_in_cidr_notation_is_a_range_from_4_4_on_alone() -> None:
    rules = index(acl(host="10.0.0.0/8"), acl(host="10.1.0.0/16", permission=DENY), acl(host="2001:db8::/32"))
    stock, preview = StandardAuthorizer(), StandardAuthorizer(takes_cidr=True)
    hosts = ("10.0.0.1", "10.1.0.1", "11.0.0.1", "2001:db8:0:0:0:0:0:1", "2001:db9:0:0:0:0:0:1")

    assert [preview.decide(action(host=host), rules).allowed for host in hosts] == [True, False, False, True, False]
    assert not any(stock.decide(action(host=host), rules).allowed for host in hosts)
    # The text itself is no address, but Kafka compares it too.
    assert stock.decide(action(host="10.0.0.0/8"), rules).allowed


def test_the_audit_log_names_the_rule() -> None:
    decide = StandardAuthorizer(allows_without_acls=True).decide

    assert decide(action(), index()).rule == "DefaultAllow"
    assert decide(action(), index(acl(operation=WRITE))).rule == "DefaultDeny"
    assert decide(action(), index(acl(permission=DENY))).rule == (
        "MatchingAcl(resource_type=2, resource_name=foo, pattern_type=3, principal=User:bob, host=*, operation=3, "
        "permission_type=2)"
    )


NAMES = ("foo", "foobar", "bar", "*")
RULES = st.builds(
    Acl,
    st.sampled_from([int(TOPIC), int(GROUP)]),
    st.sampled_from(NAMES),
    st.sampled_from([int(LITERAL), int(PREFIXED)]),
    st.sampled_from(["User:bob", "User:*", "User:root"]),
    st.sampled_from(["*", "10.0.0.1", "10.0.0.0/8"]),
    st.sampled_from([int(READ), int(WRITE), int(DESCRIBE), int(ALL), int(AclOperation.ALTER)]),
    st.sampled_from([int(ALLOW), int(DENY)]),
)
ACTIONS = st.builds(
    action,
    operation=st.sampled_from([READ, WRITE, DESCRIBE, AclOperation.ALTER]),
    user=st.sampled_from(["bob", "bob", "bob", "root", "*"]),
    kind=st.sampled_from(["User", "User", "User:x"]),
    host=st.sampled_from(["10.0.0.1", "192.168.0.1"]),
    resource_type=st.sampled_from([TOPIC, GROUP]),
)


@settings(max_examples=500)
@given(asked=ACTIONS, rules=st.lists(RULES, max_size=6), default=st.booleans(), takes_cidr=st.booleans())
def test_what_is_denied_by_one_look_is_denied_for_every_name(
    asked: Action, rules: list[Acl], default: bool, takes_cidr: bool
) -> None:
    authorizer = StandardAuthorizer({"User:root"}, allows_without_acls=default, takes_cidr=takes_cidr)
    acls = index(*rules)

    if authorizer.denies_all(asked, acls):
        names = {each.resource_name for each in rules} | {"", "foo", "foobarbaz", "zzz"}
        assert not any(authorizer.decide(asked._replace(resource_name=name), acls).allowed for name in names)


@settings(max_examples=500)
@given(asked=ACTIONS, rules=st.lists(RULES, max_size=6), takes_cidr=st.booleans())
def test_without_deny_acls_one_look_denies_exactly_what_no_name_is_allowed(
    asked: Action, rules: list[Acl], takes_cidr: bool
) -> None:
    authorizer = StandardAuthorizer({"User:root"}, allows_without_acls=False, takes_cidr=takes_cidr)
    acls = index(*(each for each in rules if each.permission_type == ALLOW))
    if (asked.principal.type, asked.principal.name) == ("User", "*"):
        assert not authorizer.denies_all(asked, acls)
        return

    names = {each.resource_name for each in rules} | {"zzz"}
    is_allowed = any(authorizer.decide(asked._replace(resource_name=name), acls).allowed for name in names)

    assert authorizer.denies_all(asked, acls) == (not is_allowed)
