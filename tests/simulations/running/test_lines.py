"""Which lines count, and which of them are reported as missed."""

from __future__ import annotations

from importlib.util import find_spec

from simulations.running.lines import COUNTED, LEFT_OUT, is_counted, production, reached_lines, run_lines


def test_modules_that_a_node_runs_count_and_those_of_operators_do_not():
    names = ("raft.vote", "raft.network.channel", "controller.handlers.topics", "controller.config.dynamic")
    others = ("controller.server.http.page", "controller.server.start", "controller.config.node", "raft.storage.files")

    assert [is_counted(name) for name in (*names, *others)] == [True] * 4 + [False] * 4
    assert {*names, "records.codec"} <= set(production())


def test_each_name_in_the_tables_is_that_of_a_module():
    names = [*(f"controller.config.{name}" for name in COUNTED), *LEFT_OUT]

    assert [name for name in names if find_spec(name) is None] == []
    assert {f"controller.config.{name}" for name in COUNTED} <= set(production())


def test_a_world_runs_lines_of_each_main_module():
    ran = {path: set(lines) for path, lines in run_lines("raft", [1]).items()}

    found = {each.module: each for each in reached_lines(ran)}
    assert len(found["raft.vote"].missed) < found["raft.vote"].statements
    assert len(found["controller.node.node"].missed) == found["controller.node.node"].statements
