"""The arguments of kafka-configs: grouped values, and keys to delete."""

from __future__ import annotations

import pytest

from tools.command_line.java_texts import Uncaught
from tools.command_line.options import read
from tools.kafka.configs.config_arguments import configs_to_add, configs_to_delete, entities_of
from tools.kafka.configs.configs import OPTIONS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=b", {"a": "b"}),
        ("a=", {"a": ""}),
        ("a = b , c = d", {"a": "b", "c": "d"}),
        ("a=[b,c],d=e", {"a": "b,c", "d": "e"}),
        ("a=[b=c,d=e]", {"a": "b=c,d=e"}),
        ("a=b,", {"a": "b"}),
        ("a=b,a=c", {"a": "c"}),
    ],
)
def test_brackets_group_values_with_commas(text: str, found: dict[str, str]) -> None:
    assert configs_to_add(read(OPTIONS, ["--add-config", text])) == found


@pytest.mark.parametrize("text", ["a", "a=b=c", "a=b,c", "a=b,,c=d", ""])
def test_what_is_no_list_of_pairs_is_refused(text: str) -> None:
    with pytest.raises(Uncaught, match="all configs to be added must be in the format"):
        configs_to_add(read(OPTIONS, ["--add-config", text]))


def test_keys_to_delete_are_separated_by_commas() -> None:
    assert configs_to_delete(read(OPTIONS, ["--delete-config", "a, b,,c", "--delete-config", "d"])) == list("abcd")


def test_names_and_defaults_of_entities_are_in_the_order_of_the_command_line() -> None:
    given = ["--entity-type", "users", "--entity-default", "--entity-type", "clients", "--entity-name", "c"]

    assert entities_of(read(OPTIONS, given)) == (["users", "clients"], ["", "c"])
