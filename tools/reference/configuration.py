"""The page `docs/configuration.md`: every key of a node's file, made from the tables of keys; `make docs` writes it."""

from __future__ import annotations

import re
from pathlib import Path

from controller.config.documentation import read_documentation
from controller.config.keys import group, own, server, topic
from controller.config.keys.dynamic import CLUSTER_WIDE, PER_BROKER
from controller.config.values.definition import Required, Type, value_text
from records.resource_types import ResourceType
from tools.reference import configuration_effects as effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.config.values.definition import Key

FILE = Path(__file__).parents[2] / "docs" / "configuration.md"

_HEAD = """\
# Configuration keys

<!-- Do not edit: `make docs` writes this file from controller/config/keys. -->

A node reads the file of a stock controller (`kraftctl start -c controller.properties`). Keys that begin with `kraft.`
are kraft-quorum's own; a stock node ignores them. An unknown key gives a warning, which names a similar key; an invalid
value ends the start with an error of one line. The image takes the same keys as variables ([install.md](install.md)).

- **Range**: of a number, both bounds are valid. "–": every value of the type is valid.
- **Dynamic** (KIP-226): `cluster`: `kafka-configs` may set it for all nodes, or for one; `node`: for one node only;
  "no": the value in the file applies until the node restarts. A controller stores dynamic values and returns them to
  the brokers. It applies those of `min.insync.replicas` and `unclean.leader.election.enable` itself. Our own keys are
  not dynamic.
- **Values from elsewhere**: `config.providers` are Kafka's providers for files, directories and variables
  (`${file:/path:key}`, `${directory:/path:file}`, `${env:NAME}`), and Strimzi's for Secrets and ConfigMaps of
  Kubernetes (`${secrets:namespace/name:key}`).
- **A listener of its own**: a key of TLS or SASL with the prefix `listener.name.NAME.` (NAME in lower case) applies to
  that listener, before the key without the prefix. [security.md](security.md) has examples.
"""

_OWN = """\
## kraft-quorum's own keys

| key | type | default | range | |
|---|---|---|---|---|
"""

_USED = """\
## Stock's keys that a controller uses

The descriptions are those of Apache Kafka 4.4.0 (licensed under the Apache License, Version 2.0). "Here" begins what is
different in kraft-quorum.

| key | type | default | range | dynamic | |
|---|---|---|---|---|---|
"""

_AUTHORIZER = """\

Keys that stock's StandardAuthorizer reads; they are not in Kafka's table of keys:

| key | |
|---|---|
"""

_REFUSED = """\

## Stock's keys that are refused

These keys name Java code, or a feature that is not supported. The node does not start with such a value.

| key | |
|---|---|
"""

_DEFAULTS = """\

## Defaults of topics and groups

A topic or group without a config of its own has the value of this key. The controller returns it in CreateTopics and
DescribeConfigs, and checks configs against it.

| key | default of | type | default | range | dynamic |
|---|---|---|---|---|---|
"""

_OTHER = """\

## Stock's keys without effect on a controller

A controller checks them as stock does, and returns them in DescribeConfigs. Nothing else depends on them: they concern
brokers, or Java. Kafka's documentation describes them.

| key | type | default | range | dynamic |
|---|---|---|---|---|
"""


def page() -> str:
    """The text of `docs/configuration.md`."""
    texts = read_documentation()[ResourceType.BROKER]
    defaults = defaults_of()
    used = [key for key in server.KEYS if key.name in effects.IN_USE]
    rest = [key for key in server.KEYS if key.name not in effects.IN_USE and key.name not in effects.REFUSED]
    parts = [
        _HEAD,
        "\n",
        _OWN,
        *(_row(*_columns(key), effects.OWN_TEXTS[key.name]) for key in own.KEYS),
        "\n",
        _USED,
        *(_row(*_columns(key), _dynamic(key.name), _description(key.name, texts[key.name])) for key in _in_order(used)),
        _AUTHORIZER,
        *(_row(f"`{name}`", text) for name, text in effects.OF_THE_AUTHORIZER.items()),
        _REFUSED,
        *(_row(f"`{name}`", text) for name, text in sorted(effects.REFUSED.items())),
        _DEFAULTS,
        *(
            _row(name, f"`{defaults[key.name]}`", *columns, _dynamic(key.name))
            for key in _in_order(key for key in rest if key.name in defaults)
            for name, *columns in [_columns(key)]
        ),
        _OTHER,
        *(
            _row(*_columns(key), _dynamic(key.name))
            for key in _in_order([*(key for key in rest if key.name not in defaults), *server.BROKER_QUOTA_KEYS])
        ),
    ]
    return "".join(parts)


def defaults_of() -> dict[str, str]:
    """Key of a node -> the key of a topic or group whose default it is."""
    defaults = {name: key for key, names in topic.SYNONYMS.items() for name, _unit in names}
    return defaults | {name: key for key, name in group.SYNONYMS.items()}


def _in_order(keys: Iterable[Key]) -> list[Key]:
    return sorted(keys, key=lambda key: key.name)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _columns(key: Key) -> Iterator[str]:
    """Name, type, default and range."""
    yield f"`{key.name}`"
    yield key.type.name.lower()
    if isinstance(key.default, Required):
        yield "must be set"
    elif key.default is None:
        yield "not set"
    else:
        text = value_text(key.default) or ""
        yield f"`{text}`" if text else "empty"
    if key.type is Type.BOOLEAN:
        yield "`true`, `false`"
    else:
        text = _escape(str(key.check)) if key.check is not None else ""
        yield text if text and " object at " not in text else "–"


def _dynamic(name: str) -> str:
    if name in CLUSTER_WIDE:
        return "cluster"
    return "node" if name in PER_BROKER else "no"


def _description(name: str, text: str) -> str:
    note = f" **Here:** {effects.NOTES[name]}" if name in effects.NOTES else ""
    return _escape(text) + note


def _escape(text: str) -> str:
    """A text with HTML of stock's documentation, as it can stand in a cell of a Markdown table."""
    text = re.sub(r"<code>(.*?)</code>", r"`\1`", text)
    text = re.sub(r"<(?!/?(?:ul|li|ol|p|br|b|i|a)\b)", "&lt;", text)
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    FILE.write_text(page(), "utf-8")
    print(FILE)
