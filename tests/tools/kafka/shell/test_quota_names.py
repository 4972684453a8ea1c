from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tools.kafka.shell.quota_names import entity_name, named_entity

TYPES = ("client-id", "ip", "user")


@given(some.dictionaries(some.sampled_from(TYPES), some.text(), min_size=1))
def test_a_name_leads_back_to_its_entity(parts: dict[str, str]) -> None:
    entity = tuple(sorted(parts.items()))

    assert named_entity(entity_name(entity)) == entity


def test_parts_are_named_in_one_order() -> None:
    entity = (("client-id", "a(b)"), ("user", "c\\"))

    assert entity_name(entity) == "clientId(a\\(b\\))_user(c\\\\)"


def test_a_default_is_left_out_of_the_name() -> None:
    assert [entity_name((("user", None),)), entity_name((("client-id", "a"), ("user", None)))] == ["", "clientId(a)"]


@pytest.mark.parametrize("text", ["", "user", "user(", "user(a", "user(a)_", "user(a)ip(b)", "host(a)", "user(a\\"])
def test_other_texts_name_no_entity(text: str) -> None:
    assert named_entity(text) is None
