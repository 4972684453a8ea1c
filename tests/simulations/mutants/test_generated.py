"""Generated mutants: what each rule changes, ids, keys and samples."""

from __future__ import annotations

import ast

import pytest

from simulations.mutants.generated import as_mutant, changes, find, generate, modules, sample, source_of
from simulations.mutants.row import Rewrite

SOURCE = '''
"""A module."""
LIMIT = 3


def act(self, x: int) -> bool:
    """What it does."""
    assert x > 0, "not this"
    self.note("nor", that=x + 1)
    if x < LIMIT and self.y:
        self.z = x + 1
        self.sync(1, wait=False)
    elif x == 2:
        raise ApiError(Error.STALE, f"{x + 1}")
    while 1 <= x < 5:
        del self.w[x]
    if not self.y:
        return self.z[-1]
    return True
'''


def test_each_rule_makes_its_change_and_no_other() -> None:
    found = [(change.rule, SOURCE[change.start : change.end], change.after) for change in changes(SOURCE)]

    assert found == [
        ("and-or", "x < LIMIT and self.y", "(x < LIMIT or self.y)"),
        ("negate", "x < LIMIT and self.y", "not (x < LIMIT and self.y)"),
        ("swap", "x < LIMIT", "x <= LIMIT"),
        ("drop", "self.z = x + 1", "pass"),
        ("one-less", "x + 1", "(x + 1 - 1)"),
        ("one-more", "x + 1", "(x + 1 + 1)"),
        ("drop", "self.sync(1, wait=False)", "pass"),
        ("constant", "1", "2"),
        ("constant", "False", "True"),
        ("swap", "x == 2", "x != 2"),
        ("constant", "2", "3"),
        ("error", "Error.STALE", "Error.UNKNOWN_SERVER_ERROR"),
        ("negate", "1 <= x < 5", "not (1 <= x < 5)"),
        ("swap", "1 <= x < 5", "1 < x < 5"),
        ("drop", "del self.w[x]", "pass"),
        ("negate", "not self.y", "not (not self.y)"),
        ("no-value", "return self.z[-1]", "return None"),
        ("constant", "-1", "0"),
        ("flip", "return True", "return False"),
    ]


def test_a_change_knows_its_function() -> None:
    source = "class A:\n    def f(self):\n        def g():\n            return self.x\n        return g\n"

    assert [(change.function, change.line) for change in changes(source)] == [("A.f", 4), ("A.f", 5)]


def test_two_changes_of_a_rule_at_one_place_have_two_names() -> None:
    found = [change.rule for change in changes("def f(a):\n    x = a + a + a\n")]

    assert found == ["one-less", "one-less-2", "one-more", "one-more-2"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    if (\n        a > 1\n        and a\n    ):\n        g()\n",
        "def f(a):\n    g(\n        a,\n        b,\n    )\n    h()\n",
        "def f(a):\n    return h(\n        a\n    )\n",
    ],
)
def test_a_change_keeps_the_number_of_lines(text: str) -> None:
    data = text.encode()
    found = changes(text)

    assert found
    for change in found:
        after = data[: change.start] + change.after.encode() + data[change.end :]
        assert after.count(b"\n") == data.count(b"\n")
        ast.parse(after)


@pytest.mark.parametrize("module", ["raft.vote", "raft.fetch_request", "raft.storage.disk_queue"])
def test_each_mutant_is_valid_code_with_an_id_and_a_key_of_its_own(module: str) -> None:
    found = list(generate(module))

    assert len(found) > 20
    assert len({each.id for each in found}) == len({each.key for each in found}) == len(found)
    for each in found[::5]:
        (edit,) = as_mutant(each).edits
        assert isinstance(edit, Rewrite)
        assert ast.dump(ast.parse(edit.source)) != ast.dump(ast.parse(source_of(module)))
    assert find(found[7].id) == as_mutant(found[7])


def test_a_core_excludes_its_edges() -> None:
    assert "raft.vote" in modules("raft")
    assert not any(name.startswith(("raft.storage.", "raft.network.")) for name in modules("raft"))
    assert {"controller.core.controller", "controller.handlers.isr", "controller.state.partitions.topics"} < set(
        modules("controller")
    )
    assert "controller.node.node" not in modules("controller")


def test_a_larger_sample_holds_the_smaller_one() -> None:
    small = sample("raft", 20)
    large = sample("raft", 60)

    assert (len(small), len(large)) == (20, 60)
    assert {each.key for each in small} < {each.key for each in large}
    assert sample("raft", 20, seed=2) != small == sample("raft", 20)


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(ValueError, match=r"raft\.vote has no negate at line 1, column 0"):
        find("G/raft.vote/1/0/negate")
    with pytest.raises(ValueError, match="is not G/module/line/column/rule"):
        find("G/raft.vote")
