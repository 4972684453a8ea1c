"""Records without their secrets: tables are shared, and kept for long.

A config of a broker is secret if its type is password, or if the key is unknown, as in DescribeConfigs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from controller.config.dynamic import node_type
from controller.config.values.definition import Type
from records.metadata.configs import ConfigRecord
from records.metadata.security import UserScramCredentialRecord

if TYPE_CHECKING:
    from collections.abc import Callable

from records.hidden_text import HIDDEN

_BROKER = 4


@lru_cache(maxsize=4096)
def is_secret(resource_type: int, name: str) -> bool:
    """Whether the value of a config is secret; resource_type: as in ConfigRecord."""
    return resource_type == _BROKER and node_type(name) in {None, Type.PASSWORD}


def _config(record: ConfigRecord) -> ConfigRecord:
    if record.value is None or not is_secret(record.resource_type, record.name):
        return record
    return ConfigRecord(
        resource_type=record.resource_type, resource_name=record.resource_name, name=record.name, value=HIDDEN
    )


def _scram(record: UserScramCredentialRecord) -> UserScramCredentialRecord:
    return UserScramCredentialRecord(
        name=record.name, mechanism=record.mechanism, salt=b"", stored_key=b"", server_key=b"",
        iterations=record.iterations,
    )  # fmt: skip


_RULES: dict[type[Any], Callable[[Any], Any]] = {ConfigRecord: _config, UserScramCredentialRecord: _scram}


def without_secrets(record: Any) -> Any:
    """The record without its secrets; the record itself if there are none."""
    rule = _RULES.get(type(record))
    return record if rule is None else rule(record)
