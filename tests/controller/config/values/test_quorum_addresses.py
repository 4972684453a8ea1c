"""The addresses of a quorum's voters and bootstrap servers."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.config.values.listeners import host_and_port, parse_listeners
from controller.config.values.quorum_addresses import parse_bootstrap_servers, parse_overrides, parse_voters
from records.java.config_error import ConfigError
from tests.controller.config.values.test_listeners import PLAIN


def test_voters_and_servers_are_read() -> None:
    assert parse_voters(("1@a:1", "2@[::1]:2")) == {1: ("a", 1), 2: ("::1", 2)}
    assert parse_bootstrap_servers(("a:1", "b:2")) == (("a", 1), ("b", 2))
    with pytest.raises(ConfigError, match=r"Host string \(0\.0\.0\.0\) is not routeable"):
        parse_voters(("1@0.0.0.0:1",))


def test_overrides_are_read() -> None:
    assert parse_overrides(("1@a:1", "2@[::1]:2")) == ((1, ("a", 1)), (2, ("::1", 2)))


@pytest.mark.parametrize("entries", [("a:1",), ("x@a:1",), ("-1@a:1",), ("1@a",), ("1@a:0",), ("1@a:1", "1@b:1")])
def test_an_override_that_names_no_address_of_one_voter_is_refused(entries: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=r"for configuration kraft\.quorum\.voter\.overrides: Each "):
        parse_overrides(entries)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_is_refused(text: str) -> None:
    host_and_port(text)
    for parse in (lambda: parse_voters((text,)), lambda: parse_listeners((text,), PLAIN)):
        with suppress(ConfigError):
            parse()
