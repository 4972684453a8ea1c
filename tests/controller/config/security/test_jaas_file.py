"""JAAS files: sections and modules as Java reads them, which of them counts, and no secret in an error."""

from __future__ import annotations

import pytest

from controller.config.node import NodeConfig
from controller.config.security.jaas_file import jaas_sections
from controller.config.security.listener_values import ListenerValues
from controller.config.security.security_checks import login_module
from records.java.config_error import ConfigError
from tests.controller.config.security.test_security_checks import PLAIN, given

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
FILE = f"""
// The controllers.
KafkaServer {{
    {MODULE} required
    username="all" password="${{secret}}"
    user_all="${{secret}}";
    {SCRAM} required;
}};
/* Of one listener. */
controller.KafkaServer {{ {MODULE} required username="own" password="hush"; }};
"""


def written(tmp_path, text: str) -> str:
    path = tmp_path / "jaas.conf"
    path.write_text(text)
    return str(path)


def test_sections_hold_modules_with_their_options(tmp_path):
    sections = jaas_sections(written(tmp_path, FILE), {"secret": "hush"})

    found = {name: [(module.name, module.options) for module in modules] for name, modules in sections.items()}
    assert found == {
        "KafkaServer": [(MODULE, {"username": "all", "password": "hush", "user_all": "hush"}), (SCRAM, {})],
        "controller.KafkaServer": [(MODULE, {"username": "own", "password": "hush"})],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("KafkaServer {", "ends where the name of a login module"),
        ("KafkaServer { a.B maybe; };", "in line 1 something else where one of REQUIRED"),
        ('KafkaServer { a.B required password="s3cret"', "ends where the name of an option"),
        ("KafkaServer {\n a.B required\n password=12345; };", "in line 3 something else where a value for option 1"),
        ('KafkaServer { a.B required password "s3cret"; };', "where '=' should come"),
        ("KafkaServer { a.B required; }", "ends where ';' should come"),
        ("KafkaServer { a.B required; };\nKafkaServer { };", "has section KafkaServer twice"),
        ('KafkaServer { a.B required password="${s3cret.name}"; };', "names system property s3cret.name, which is not"),
    ],
)
def test_what_is_wrong_is_said_without_a_secret(tmp_path, text, said):
    path = written(tmp_path, text)

    with pytest.raises(ConfigError) as error:
        jaas_sections(path, {})
    assert said in str(error.value)
    assert f"the JAAS file {path} " in str(error.value)
    assert not {"s3cret", '"s3cret"', "12345"} & set(str(error.value).split())


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match="missing cannot be read: No such file"):
        jaas_sections(str(tmp_path / "missing"), {})


def user(environment: dict[str, str], **settings: str) -> str:
    config = NodeConfig(given("SASL_PLAINTEXT", **settings), environment)
    return login_module(ListenerValues(config, "CONTROLLER"), "PLAIN", "key").options["username"]


def test_a_key_stands_before_the_section_of_the_listener_and_that_before_the_one_for_all(tmp_path):
    both = {"KAFKA_OPTS": f"-Xmx1g -Dsecret=hush -Djava.security.auth.login.config={written(tmp_path, FILE)}"}
    (tmp_path / "all").mkdir()
    only_all = {
        "KAFKA_OPTS": "-Dsecret=hush",
        "kraft.jaas.config.path": written(tmp_path / "all", FILE.partition("/*")[0]),
    }

    assert user(both, **PLAIN) == "n"
    assert user(both) == "own"
    assert user({"KAFKA_OPTS": only_all.pop("KAFKA_OPTS")}, **only_all) == "all"


def test_of_an_option_that_several_modules_of_a_mechanism_have_the_first_counts(tmp_path):
    section = f"""KafkaServer {{
        {MODULE} required username="first" user_a="one";
        {SCRAM} required username="scram" user_c="none";
        {MODULE} optional username="second" user_a="two" user_b="three";
    }};"""
    config = NodeConfig(given("SASL_PLAINTEXT", **{"kraft.jaas.config.path": written(tmp_path, section)}))

    module = login_module(ListenerValues(config, "CONTROLLER"), "PLAIN", "key")

    assert module.options == {"username": "first", "user_a": "one", "user_b": "three"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no section controller.KafkaServer or KafkaServer either"),
        (f"KafkaServer {{ {SCRAM} required; }};", "has no login module org.apache.kafka.common.security.plain.Pl"),
    ],
)
def test_a_file_without_the_module_is_refused(tmp_path, text, said):
    with pytest.raises(ConfigError, match=said):
        user({}, **{"kraft.jaas.config.path": written(tmp_path, text)})
