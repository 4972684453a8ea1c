"""sasl.kerberos.principal.to.local.rules, as Kafka reads and applies them."""

from __future__ import annotations

import pytest

from controller.config.security.kerberos_rules import KerberosRules
from records.java.config_error import ConfigError


@pytest.mark.parametrize(
    ("rules", "principal", "name"),
    [
        (("DEFAULT",), "alice@REALM", "alice"), ((), "kafka/host@REALM", "kafka"), (("DEFAULT",), "alice", "alice"),
        (("RULE:[1:$1](App\\..*)s/App\\.(.*)/$1/g", "DEFAULT"), "App.service-name@OTHER", "service-name"),
        (("RULE:[1:$1](App\\..*)s/App\\.(.*)/$1/g", "DEFAULT"), "user@REALM", "user"),
        (("RULE:[2:$1]",), "App.service-name/host@OTHER", "App.service-name"),
        (("RULE:[2:$1-$2-$0]",), "a/b@OTHER", "a-b-OTHER"),
        (("RULE:[1:$1]/L",), "User@REALM", "user"), (("RULE:[1:$1]/U",), "User@REALM", "USER"),
        (("RULE:[1:$1]s/a/b/",), "aaa@REALM", "baa"), (("RULE:[1:$1]s/a/b/g",), "aaa@REALM", "bbb"),
        (("RULE:[1:$1]s/a/b//L",), "Aaa@REALM", "aba"), (("RULE:[2:$1](x)", "RULE:[2:$2]"), "a/b@OTHER", "b"),
    ],
)  # fmt: skip
def test_the_first_rule_that_applies_gives_the_name(rules, principal, name):
    assert KerberosRules(rules, "REALM").name_of(principal) == name


@pytest.mark.parametrize(
    ("rules", "principal", "said"),
    [
        (("DEFAULT",), "alice@OTHER", "no rule of"), (("RULE:[1:$1]",), "a/b@REALM", "no rule of"),
        (("RULE:[1:$1@$0]",), "a@REALM", "is not simple"), (("DEFAULT",), "a@b@REALM", "is no name of Kerberos"),
    ],
)  # fmt: skip
def test_a_principal_without_a_name_is_refused(rules, principal, said):
    with pytest.raises(ValueError, match=said):
        KerberosRules(rules, "REALM").name_of(principal)


@pytest.mark.parametrize("rule", ["default", "RULE:[1:$1](a", "RULE:[1:$2]", "RULE:[1:$]", "RULE:[1:$1](()s/a/b/", "x"])
def test_a_rule_that_is_none_is_refused(rule):
    with pytest.raises(ConfigError, match="Invalid rule"):
        KerberosRules((rule,), "REALM")
