"""The controller that `kafka-metadata-quorum add-controller` adds: id, directory and endpoints, from its properties.

Only the keys that are needed are looked at, as by stock; the node's configuration is not checked as a whole.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.command_line.java_texts import Uncaught
from tools.kafka.feature_tables import Terse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Endpoint = tuple[str, str, int]

ADVICE = "Is this a valid controller configuration file?"
_LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")


class NewVoter(NamedTuple):
    """endpoints: listener, host and port, in the order of `controller.listener.names`."""

    id: int
    directory_id: bytes
    endpoints: tuple[Endpoint, ...]


def new_voter(properties: Mapping[str, str]) -> NewVoter:
    """The voter that properties describe. Raises Terse, with the sentence of stock's tool, or Uncaught."""
    node_id = _node_id(properties)
    directory_id = _directory_id(_metadata_directory(properties))
    return NewVoter(node_id, directory_id, _endpoints(properties))


def _node_id(properties: Mapping[str, str]) -> int:
    from records.java.java_forms import integer

    if "node.id" not in properties:
        raise Terse(f"node.id not found in configuration file. {ADVICE}")
    try:
        node_id = integer(properties["node.id"])
    except ValueError as error:
        raise Uncaught("java.lang.NumberFormatException", str(error)) from None
    if node_id < 0:
        raise Terse(f"node.id was negative in configuration file. {ADVICE}")
    if "controller" not in properties.get("process.roles", ""):
        raise Terse(f"process.roles did not contain 'controller' in configuration file. {ADVICE}")
    return node_id


def _metadata_directory(properties: Mapping[str, str]) -> str:
    if "metadata.log.dir" in properties:
        return properties["metadata.log.dir"]
    if "log.dirs" in properties:
        return properties["log.dirs"].strip().split(",")[0]
    raise Terse(f"Neither metadata.log.dir nor log.dirs were found. {ADVICE}")


def _directory_id(directory: str) -> bytes:
    from records.java.config_error import ConfigError
    from tools.offline.marked_directories import MarkError, read_mark

    try:
        directory_id = read_mark(directory).directory_id
    except (MarkError, ConfigError, OSError):
        raise Terse(f"Unable to read meta.properties from {directory}") from None
    if directory_id is None:
        raise Terse(f"No directory id found in {directory}")
    return directory_id


def _endpoints(properties: Mapping[str, str]) -> tuple[Endpoint, ...]:
    """Advertised listeners take precedence over listeners."""
    listeners: dict[str, Endpoint] = {}
    for key in ("listeners", "advertised.listeners"):
        for text in filter(None, (part.strip() for part in properties.get(key, "").split(","))):
            match = _LISTENER.fullmatch(text)
            if match is None:
                raise Uncaught("org.apache.kafka.common.KafkaException", f"Unable to parse {text} to a broker endpoint")
            port = _port(match[3])
            listeners[match[1].upper()] = (match[1].upper(), match[2] or "localhost", port)
    if "controller.listener.names" not in properties:
        raise Terse(f"controller.listener.names was not found. {ADVICE}")
    names = [name.upper() for name in properties["controller.listener.names"].split(",")]
    for name in names:
        if name not in listeners:
            raise Terse(f"Cannot find information about controller listener name: {name}")
    return tuple(dict.fromkeys(listeners[name] for name in names))


def _port(text: str) -> int:
    from records.java.java_forms import integer

    try:
        port = integer(text)
    except ValueError as error:
        raise Uncaught("java.lang.NumberFormatException", str(error)) from None
    if not 0 <= port <= 65535:
        raise Terse(f"Port {port} of a listener is not within 0 to 65535")
    return port
