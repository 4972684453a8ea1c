"""Loggers of the node; test_configs.py tests the requests that change their levels."""

from __future__ import annotations

import pytest

from controller.interface.loggers import Loggers


def test_a_logger_without_a_level_has_that_of_its_nearest_parent() -> None:
    loggers = Loggers({"root": "WARN", "raft": "DEBUG", "raft.storage": None, "raft.storage.log": None, "other": None})

    assert loggers.levels() == {
        "other": "WARN",
        "raft": "DEBUG",
        "raft.storage": "DEBUG",
        "raft.storage.log": "DEBUG",
        "root": "WARN",
    }


def test_a_level_is_set_and_removed() -> None:
    loggers = Loggers({"root": "INFO", "raft": None})

    loggers.put("raft", "TRACE")
    after = loggers.level("raft")
    loggers.put("raft", None)

    assert (after, loggers.level("raft")) == ("TRACE", "INFO")


def test_the_root_keeps_a_level() -> None:
    with pytest.raises(AssertionError):
        Loggers({"root": "INFO"}).put("root", None)
