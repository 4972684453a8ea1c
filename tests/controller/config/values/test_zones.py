"""`kraft.autopilot.zones`: a list of `id:zone`."""

from __future__ import annotations

import pytest

from controller.config.values.zones import ZONES, Zones, parse_zones
from records.java.config_error import ConfigError


def test_each_node_has_its_zone_which_may_contain_colons() -> None:
    assert parse_zones(("1:a", "2:eu:1", "30:b c")) == {1: "a", 2: "eu:1", 30: "b c"}


@pytest.mark.parametrize("entries", [("a",), ("1",), ("1:",), (":a",), ("-1:a",), ("x:a",), ("1:a", "1:b")])
def test_other_texts_are_refused_with_the_form(entries: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=ZONES):
        Zones()(ZONES, entries)
