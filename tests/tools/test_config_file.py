"""A configuration read from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from records.java.config_error import ConfigError
from tests.controller.config.test_node import NODE
from tools.config_file import read_config

if TYPE_CHECKING:
    from pathlib import Path


def test_overrides_replace_keys_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "controller.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in NODE.items()))

    config = read_config(str(path), {"broker.session.timeout.ms": "20000"})

    assert config.node_id == 1
    assert config.number("broker.session.timeout.ms") == 20000
    assert config.voters == {1: ("127.0.0.1", 9093)}
    assert config.log_dirs == ("/data/1",)
    assert config.metadata_log_dir == "/data/1"
    assert config.warnings == []


def test_a_file_that_is_not_a_properties_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a=\\uzz")

    with pytest.raises(ConfigError, match="Malformed"):
        read_config(str(path))
