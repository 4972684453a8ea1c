"""Reading a node's configuration file."""

from __future__ import annotations

from controller.config.node import NodeConfig
from records.java.config_error import ConfigError
from records.java.properties import PropertiesError, parse_properties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# A properties file is small: a larger file is something else, and is not read into memory.
FILE_BYTES_MAX = 16 << 20


def read_properties(path: str) -> dict[str, str]:
    """The keys and texts of a .properties file. Raises ConfigError if it is malformed, OSError if it cannot be read."""
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib would cost a tool a good part of its start
        data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise ConfigError(f"{path} is larger than {FILE_BYTES_MAX} bytes: it is no properties file")
    try:
        return parse_properties(data)
    except PropertiesError as error:
        raise ConfigError(f"{path}: {error}", "java.lang.IllegalArgumentException") from error


def read_config(path: str, overrides: Mapping[str, str] | None = None) -> NodeConfig:
    """The configuration in a file; `overrides` (`--override`) replace keys of it. Raises ConfigError, OSError."""
    return NodeConfig({**read_properties(path), **(overrides or {})})
