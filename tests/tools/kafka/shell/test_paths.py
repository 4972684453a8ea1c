from __future__ import annotations

import pytest

from tools.kafka.shell.nodes import Directory, fixed_directory
from tools.kafka.shell.paths import MissingChild, find, names_of, pattern_of


def tree() -> Directory:
    return fixed_directory(
        "RootShellNode",
        {
            "alpha": lambda: fixed_directory("A", {"1": lambda: "one", "2": lambda: "two", "10": lambda: "ten"}),
            "beta": lambda: "leaf",
            "g{am}ma*": lambda: "odd",
        },
    )


def found(glob: str, working_directory: str = "/") -> list[str]:
    return [entry.absolute for entry in find(tree(), working_directory, glob)]


@pytest.mark.parametrize(
    ("path", "names"),
    [("/", []), ("//a///b/", ["a", "b"]), ("/a/./b/..", ["a"]), ("/../..", []), ("/a/../../b", ["b"])],
)
def test_dots_in_paths_are_resolved(path: str, names: list[str]) -> None:
    assert names_of(path) == names


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("/", ["/"]),
        ("alpha/*", ["/alpha/1", "/alpha/10", "/alpha/2"]),
        ("alpha/?", ["/alpha/1", "/alpha/2"]),
        ("{alpha,beta}", ["/alpha", "/beta"]),
        ("{alpha}/1{,0}", ["/alpha/1", "/alpha/10"]),
        ("*/1", ["/alpha/1"]),
        ("beta/x", []),
        ("nope*", []),
        ("[ab]*", []),
    ],
)
def test_globs_find_matching_nodes_sorted(glob: str, paths: list[str]) -> None:
    assert found(glob) == paths


def test_a_relative_path_starts_at_the_working_directory() -> None:
    assert found("1", "/alpha") == found("../alpha/1", "/alpha") == ["/alpha/1"]


def test_a_backslash_escapes_only_in_a_name_with_a_wildcard() -> None:
    assert found("g\\{am\\}ma?") == ["/g{am}ma*"]
    assert found("g\\{am\\}ma\\*") == []
    assert found("g{am}ma*") == []


@pytest.mark.parametrize("glob", ["{a", "{a{b}}", "\\*", "plain", ",", "}"])
def test_a_malformed_glob_is_compared_as_typed(glob: str) -> None:
    assert pattern_of(glob) is None


def test_a_listed_name_without_a_node_is_an_error() -> None:
    broken = Directory("ClientQuotasImageNode", lambda: [""], lambda _: None)

    with pytest.raises(MissingChild) as error:
        list(find(broken, "/", "*"))

    assert str(error.value) == (
        "Expected  to be a valid child of class org.apache.kafka.image.node.ClientQuotasImageNode, but it was not."
    )
