"""ssl.principal.mapping.rules, by the examples of KIP-371 and of Kafka's documentation."""

from __future__ import annotations

import pytest

from controller.config.principal_rules import PrincipalRules
from controller.config.values.definition import ConfigError

RULES = (
    r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,"
    r"RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L,"
    r"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U,DEFAULT"
)


@pytest.mark.parametrize(
    ("name", "principal"),
    [
        ("CN=kafka-server1,OU=ServiceUsers,O=Unknown,C=US", "kafka-server1"),
        ("CN=Admin1,OU=Eng,O=X,L=Y,ST=CA,C=US", "admin1@eng"),
        ("cn=duke,O=a", "DUKE"),
        ("OU=nobody", "OU=nobody"),
    ],
)
def test_the_first_rule_that_matches_counts(name, principal):
    assert PrincipalRules(RULES).name_of(name) == principal


def test_by_default_the_name_is_unchanged():
    assert PrincipalRules("DEFAULT").name_of("CN=a,O=b") == "CN=a,O=b"


def test_a_name_that_matches_no_rule_is_refused():
    with pytest.raises(ValueError, match="no rule"):
        PrincipalRules("RULE:^CN=x$/y/").name_of("CN=a")


def test_a_reference_to_a_missing_group_is_literal_text():
    assert PrincipalRules("RULE:^CN=(.*)$/$1@$2/").name_of("CN=a") == "a@$2"
    assert PrincipalRules("RULE:^CN=(.*)$/$12/").name_of("CN=a") == "a2"


@pytest.mark.parametrize("text", ["RULE:^CN=(/$1/", "rule", "RULE:x"])
def test_a_malformed_rule_is_refused(text):
    with pytest.raises(ConfigError, match="Invalid rule"):
        PrincipalRules(text)
