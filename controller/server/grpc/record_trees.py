"""Records as watchers get them: with the names of Kafka's JSON converters, and without secrets."""

from __future__ import annotations

from typing import Any

from controller.config.dynamic import node_type
from controller.config.resources import DEFINITIONS, resource_type
from controller.config.values.definition import Type
from records.printing.json_form import to_json
from records.printing.type_names import type_name
from records.registry import METADATA_RECORDS
from records.resource_types import ResourceType

# With these fields of a SCRAM credential one can guess the password offline, or impersonate the user.
_SCRAM_SECRETS = ("salt", "storedKey", "serverKey")


TYPE_NAMES = {code: type_name(name) for code, (name, _) in METADATA_RECORDS.items()}


def tree_of(record: Any, version: int) -> tuple[dict[str, Any], list[str]]:
    """The record's JSON tree, and the keys whose values are hidden: they are None in the tree."""
    tree = to_json(record, version)
    hidden = _secrets(type(record).__name__, tree)
    for key in hidden:
        tree[key] = None
    return tree, hidden


def _secrets(name: str, tree: dict[str, Any]) -> list[str]:
    if name == "UserScramCredentialRecord":
        return list(_SCRAM_SECRETS)
    if name == "ConfigRecord" and tree["value"] is not None and is_secret(tree["resourceType"], tree["name"]):
        return ["value"]
    return []


def is_secret(code: int, key: str) -> bool:
    """Whether DescribeConfigs hides the value of this key: passwords and unknown keys."""
    kind = resource_type(code)
    if kind is ResourceType.BROKER:
        return node_type(key) in {None, Type.PASSWORD}
    known = DEFINITIONS[kind].get(key) if kind in DEFINITIONS else None
    return known is None or known.type is Type.PASSWORD
