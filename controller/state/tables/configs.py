"""Dynamic configs of topics, brokers, client metrics subscriptions and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.resource_types import ResourceType

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.configs import ConfigRecord

# Types of resources in records; BROKER with an empty name is the default of all brokers and controllers.
TOPIC = ResourceType.TOPIC.value
BROKER = ResourceType.BROKER.value
CLIENT_METRICS = ResourceType.CLIENT_METRICS.value
GROUP = ResourceType.GROUP.value


def replay_config(state: State, record: ConfigRecord, _offset: int) -> None:
    """Set a key, or remove it if the value is null. A key that this software does not know is ignored."""
    if not state.knows_config(record.resource_type, record.name):
        return
    resource = (record.resource_type, record.resource_name)
    values = dict(state.configs.get(resource, ()))
    if record.value is None:
        values.pop(record.name, None)
    else:
        values[record.name] = record.value
    if values:
        state.configs.put(resource, values)
    elif resource in state.configs:
        state.configs.remove(resource)
