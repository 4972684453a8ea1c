"""The keys that only kraft-quorum has."""

from __future__ import annotations

from controller.config.keys import own, server
from controller.config.values.definition import Required, value_text
from tests.controller.config.test_keys import DEFINITIONS


def test_each_default_is_valid() -> None:
    definitions = [*DEFINITIONS.values(), server.BROKER_QUOTA_KEYS, own.KEYS]

    for key in (key for definition in definitions for key in definition if not isinstance(key.default, Required)):
        assert key.parse(key.default) == key.default
        assert key.parse(value_text(key.default)) == key.default


def test_stock_ignores_our_own_keys() -> None:
    assert all(key.name.startswith(own.PREFIX) for key in own.KEYS)
