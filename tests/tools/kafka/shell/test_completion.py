from __future__ import annotations

import pytest

from tests.tools.kafka.cases import STOCK
from tools.kafka.shell.commands import Shell
from tools.kafka.shell.completion import completions
from tools.kafka.shell.nodes import root
from tools.offline.load import load_image


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(root(load_image(str(STOCK / "no-default-quota.log"))), lambda _: None, history=[])


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ([""], ["cat", "cd", "exit", "find", "help", "history", "ls", "man", "pwd", "tree"]),
        (["h"], ["help", "history"]),
        (["ls", ""], ["image/", "local/"]),
        (["ls", "/"], ["/image/", "/local/"]),
        (["ls", "im"], ["image/"]),
        (["cat", "/local/"], ["/local/commitId", "/local/version"]),
        (["cat", "x", "/image/prov"], ["/image/provenance"]),
        (["cd", "/image/topics/"], ["/image/topics/byId/", "/image/topics/byName/"]),
        (["cd", "a", "b"], []),
        (["man", "t"], ["tree"]),
        (["pwd", ""], []),
        (["ls", "nope/"], []),
        (["ls", "/local/version/x"], []),
    ],
)
def test_tab_offers_commands_then_paths(shell: Shell, typed: list[str], offered: list[str]) -> None:
    assert completions(shell, typed) == offered
