"""Config providers: what they find, what they may not read, and what stays as it is written."""

from __future__ import annotations

import pytest

from controller.config.node import NodeConfig
from raft.security.config_providers import resolve
from records.java.config_error import ConfigError

CLASS = "org.apache.kafka.common.config.provider."
FILE = {"config.providers": "file", "config.providers.file.class": CLASS + "FileConfigProvider"}
DIRECTORY = {"config.providers": "dir", "config.providers.dir.class": CLASS + "DirectoryConfigProvider"}
VARIABLES = {"config.providers": "env", "config.providers.env.class": CLASS + "EnvVarConfigProvider"}


class Result:
    """What one property becomes, and the warnings."""

    def __init__(self, providers, text, environment=None, allowed=None) -> None:
        self.warnings = []
        self.text = resolve({**providers, "key": text}, environment or {}, allowed, self.warnings)["key"]


def test_variables_of_a_properties_file_are_replaced_wherever_they_stand(tmp_path):
    path = tmp_path / "secrets"
    path.write_text("user=alice\npassword=hüsh\n", encoding="utf-8")

    found = Result(FILE, f'required username="${{file:{path}:user}}" password="${{file:{path}:password}}";')
    assert (found.text, found.warnings) == ('required username="alice" password="hüsh";', [])


def test_a_directory_has_a_file_for_each_key(tmp_path):
    (tmp_path / "password").write_text("hush\n")

    assert Result(DIRECTORY, f"${{dir:{tmp_path}:password}}").text == "hush\n"
    assert Result(DIRECTORY, f"${{dir:{tmp_path}/none:password}}").warnings[0].endswith("is not a directory")


@pytest.mark.parametrize("key", ["../password", "sub", ".", ""])
def test_a_key_of_a_directory_is_the_name_of_a_file_in_it(tmp_path, key):
    (tmp_path / "password").write_text("hush")
    (tmp_path / "dir" / "sub").mkdir(parents=True)
    text = f"${{dir:{tmp_path}/dir:{key}}}"

    assert Result(DIRECTORY, text).text == text


def test_environment_variables_may_be_bound_by_a_pattern():
    environment = {"KAFKA_A": "1", "OTHER": "2"}
    bound = VARIABLES | {"config.providers.env.param.allowlist.pattern": "KAFKA_.*"}

    assert Result(VARIABLES, "${env:KAFKA_A}${env:OTHER}", environment).text == "12"
    assert Result(bound, "${env:KAFKA_A}${env:OTHER}", environment).text == "1${env:OTHER}"


@pytest.mark.parametrize("name", ["KAFKA_A", "KAFKA_AB", "A_KAFKA_A"])
def test_the_pattern_must_match_the_whole_name_of_an_environment_variable(name):
    bound = VARIABLES | {"config.providers.env.param.allowlist.pattern": "KAFKA_A"}

    assert Result(bound, f"${{env:{name}}}", {name: "1"}).text == ("1" if name == "KAFKA_A" else f"${{env:{name}}}")


def test_paths_outside_of_the_allowed_ones_are_not_read(tmp_path):
    for name in ("in", "inside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("a=1")
    bound = FILE | {"config.providers.file.param.allowed.paths": str(tmp_path / "in")}

    assert Result(bound, f"${{file:{tmp_path}/in/f:a}}").text == "1"
    for path in (f"{tmp_path}/inside/f", f"{tmp_path}/in/../inside/f", "in/f"):
        found = Result(bound, f"${{file:{path}:a}}")
        assert found.text == f"${{file:{path}:a}}"
        assert f"the path {path} is not among config.providers.file.param.allowed.paths" in found.warnings[0]


@pytest.mark.parametrize("text", ["${file:{}:none}", "${other:{}:a}", "${file}", "$file", "${:a}", "${file::a}"])
def test_what_is_not_found_stays_as_it_is_written(tmp_path, text):
    (tmp_path / "f").write_text("a=1")
    text = text.replace("{}", str(tmp_path / "f"))

    assert Result(FILE, text).text == text


def test_what_is_looked_up_is_not_looked_up_again(tmp_path):
    environment = {"A": "${env:B}", "B": "hush"}

    assert Result(VARIABLES, "${env:A}", environment).text == "${env:B}"


@pytest.mark.parametrize(
    ("providers", "text", "said"),
    [
        (FILE, "${file:/none/such:a}", "Could not read properties from file /none/such: No such file or directory"),
        (VARIABLES, "${env:path:A}", "Path is not supported for EnvVarConfigProvider, invalid value 'path'"),
        (FILE | {"config.providers.file.class": "a.B"}, "x", "config.providers.file.class=a.B names a Java class"),
        (FILE | {"config.providers.file.param.allowed.paths": "etc"}, "x", "Path etc is not absolute"),
        (FILE | {"config.providers.file.param.allowed.paths": "/no/such"}, "x", "Path /no/such does not exist"),
        (VARIABLES | {"config.providers.env.param.allowlist.pattern": "("}, "x", "is no regular expression"),
    ],
)
def test_what_cannot_be_looked_up_is_refused(providers, text, said):
    with pytest.raises(ConfigError) as error:
        Result(providers, text)
    assert said in str(error.value)


def test_a_system_property_says_which_classes_may_be_used():
    assert Result(VARIABLES, "${env:A}", {"A": "1"}, CLASS + "EnvVarConfigProvider, b.C").text == "1"
    with pytest.raises(ConfigError, match="EnvVarConfigProvider is not allowed"):
        Result(VARIABLES, "${env:A}", {"A": "1"}, "b.C")


def test_a_provider_without_a_class_is_passed_over_with_a_warning():
    found = Result({"config.providers": "env"}, "${env:A}", {"A": "1"})

    assert found.text == "${env:A}"
    assert "config.providers.env.class" in found.warnings[0]


def test_a_node_takes_what_is_looked_up_for_any_key():
    properties = {
        "process.roles": "controller", "node.id": "${env:ID}", "controller.quorum.voters": "7@localhost:9093",
        "controller.listener.names": "CONTROLLER", "listeners": "CONTROLLER://localhost:9093", **VARIABLES,
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT", "log.dirs": "${env:DIR}", "super.users": "User:a",
    }  # fmt: skip
    config = NodeConfig(properties, {"ID": "7", "DIR": "data"})

    assert (config.node_id, config.log_dirs) == (7, ("data",))
    assert config.looked_up == {"node.id", "log.dirs"}
    assert config.warnings == []
