from __future__ import annotations

from controller.state.tables.configs import BROKER, TOPIC
from records.metadata.configs import ConfigRecord
from tests.controller.state.tables.replaying import state_of


def config(name, value, resource=(TOPIC, "a")):
    return ConfigRecord(resource_type=resource[0], resource_name=resource[1], name=name, value=value)


def test_keys_are_set_and_removed_one_by_one():
    state = state_of(config("x", "1"), config("y", ""), config("x", "2"), config("y", None))

    assert state.configs == {(TOPIC, "a"): {"x": "2"}}


def test_a_resource_without_keys_is_not_kept():
    state = state_of(config("x", "1"), config("x", None), config("never", None, (BROKER, "")))

    assert state.configs == {}


def test_a_key_that_this_software_does_not_know_is_ignored():
    state = state_of(
        config("x", "1"), config("old", "1"), knows_config=lambda type_, name: (type_, name) != (TOPIC, "old")
    )

    assert state.configs == {(TOPIC, "a"): {"x": "1"}}


def test_former_values_are_not_changed_in_place():
    state = state_of(config("x", "1"))
    before = state.configs[TOPIC, "a"]

    state.replay(config("x", "2"), 1)

    assert before == {"x": "1"}
