"""ssl.principal.mapping.rules, by the examples of KIP-371 and of Kafka's documentation."""

from __future__ import annotations

import pytest

from raft.security import principal_rules
from raft.security.principal_rules import PrincipalRules
from records.java.config_error import ConfigError
from records.java.java_matching import Steps

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


@pytest.mark.parametrize(
    "subject",
    [
        "CN=\u212aafka",
        "CN=ka\u017fka",
        "CN=kafka\u0661",
        "CN=kafk\u0430",
        "CN=kafka\u00a0",
        "CN=kafka\nx",
        "CN=\u212aAFKA",
    ],
)
@pytest.mark.parametrize(
    "rule", [r"(?i)CN=(kafka|kaska)", r"CN=(\w+)", r"CN=(kafka)\d", r"CN=(kafka)\s", "(?i)CN=([a-z]+)", r"CN=(kafka).x"]
)
def test_a_letter_of_another_script_is_none_of_ascii(subject, rule):
    with pytest.raises(ValueError, match="no rule"):
        PrincipalRules(f"RULE:^{rule}$/$1/L").name_of(subject)


def test_a_long_subject_is_mapped_or_refused_in_bounded_steps(monkeypatch):
    steps = []

    def counted(left):
        steps.append(Steps(left))
        return steps[-1]

    monkeypatch.setattr(principal_rules, "Steps", counted)
    mapped = PrincipalRules(RULES.partition(",RULE:^.*")[0] + ",DEFAULT")

    short, *long = ("CN=a" + ",OU=b,O=c,L=d,ST=e" * (size // 19) + ",C" for size in (1_084, 10_000, 30_000))
    assert mapped.name_of(short) == short
    for subject in long:
        with pytest.raises(ValueError, match=r"take too long to match with ssl\.principal\.mapping\.rules"):
            mapped.name_of(subject)

    used = [principal_rules.STEPS_MAX - each.left for each in steps]
    assert used[0] < principal_rules.STEPS_MAX
    assert max(used) < principal_rules.STEPS_MAX + 30_000


def test_a_reference_to_a_missing_group_is_literal_text():
    assert PrincipalRules("RULE:^CN=(.*)$/$1@$2/").name_of("CN=a") == "a@$2"
    assert PrincipalRules("RULE:^CN=(.*)$/$12/").name_of("CN=a") == "a2"


@pytest.mark.parametrize("text", ["RULE:^CN=(/$1/", "rule", "RULE:x", "RULE:a/b/x", r"RULE:\X/b/"])
def test_a_malformed_rule_is_refused(text):
    with pytest.raises(ConfigError, match="Invalid rule"):
        PrincipalRules(text)
