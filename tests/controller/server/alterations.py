"""IncrementalAlterConfigs of one key, as a client sends it."""

from __future__ import annotations

from records.messages.configs import IncrementalAlterConfigsRequest

SET, BROKER, BROKER_LOGGER = 0, 4, 8


def alteration(kind: int, name: str, key: str, value: str) -> IncrementalAlterConfigsRequest:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = resource.AlterableConfig
    return IncrementalAlterConfigsRequest(
        resources=[
            resource(
                resource_type=kind,
                resource_name=name,
                configs=[config(name=key, config_operation=SET, value=value)],
            )
        ],
        validate_only=False,
    )
