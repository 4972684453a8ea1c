"""Configs of topics: those of a new topic, and the effective values (KIP-226, KIP-525, KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.effective import Layers
from controller.handlers.config_changes import Records, check_changes, clear_elr_records, config_record
from records.java.java_order import hash_order
from records.resource_types import ResourceType

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from controller.interface.env import Env
    from controller.state.state import State


def new_topic_configs(state: State, env: Env, name: str, values: Mapping[str, str], *, forwarded: bool) -> Records:
    """The records that give a new topic these configs, and clear its ELR if min.insync.replicas changes.

    Raises ApiError if the configs are not valid.
    """
    if not values:
        return []
    records = [config_record(ResourceType.TOPIC, name, key, values[key]) for key in hash_order(values)]
    check_changes(state, env, ResourceType.TOPIC, name, records, is_new=True, forwarded=forwarded)
    return [*records, *clear_elr_records(state, records)]


class ConfigsOf:
    """The keys of configs that decide on topics of these names: their own, and those that are not of topics."""

    def __init__(self, names: Container[str]) -> None:
        self._names = names

    def __contains__(self, key: Any) -> bool:
        kind, name = key
        return kind != ResourceType.TOPIC or name in self._names


def layers(state: State, env: Env, own: Mapping[str, str]) -> Layers:
    """The layers of values for a topic with these configs of its own, this node's file included (KIP-226)."""
    configs = state.configs
    return Layers(
        own,
        configs.get((ResourceType.BROKER, str(env.node_id)), {}),
        configs.get((ResourceType.BROKER, ""), {}),
        {} if env.config is None else env.config.originals,
    )
