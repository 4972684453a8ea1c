"""The options of the source `kraft_metadata`: their names, and the parsing of their values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Options of the source, in lower case, as Spark passes them.
OPTIONS = {
    "path": "node directories, folders of them, directories of the partition, globs of these; separated by commas",
    "cluster": "the id of the one cluster to read",
    "quorum": "host:port of nodes of a live quorum, separated by commas",
    "commandconfig": "file with the properties of the client for a live quorum, as of Kafka's tools",
    "watch": "host:port of the watch services of a live quorum, separated by commas",
    "watchca": "PEM file of the CA of the watch services; without it: no TLS",
    "watchchain": "PEM file of the client certificate",
    "watchkey": "PEM file of its key",
    "from": "the first offset to read of each cluster, as JSON",
    "rangebytes": "how many bytes a task reads",
    "maxbytespertrigger": "how many bytes a micro-batch reads at most",
    "push": "true to push filters down; needs spark.sql.python.filterPushdown.enabled",
    "client": "the client id for requests to a live quorum",
}
Progress = dict[str, dict[str, int]]


class OptionError(ValueError):
    """An invalid option. The text is one line that names it."""


def number_of(options: Mapping[str, str], name: str, default: int) -> int:
    """An option that is a number above 0; raises OptionError."""
    text = options.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 40:
        raise OptionError(f"{name} is {text!r}; expected a number of bytes above 0")
    return int(text)


def progress_of(text: str) -> Progress:
    """The option `from`: an offset by cluster id, as JSON; raises OptionError."""
    try:
        tree = json.loads(text or "{}")
        return {str(key): {"offset": _offset(value), "epoch": -1} for key, value in tree.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise OptionError(f"from must be JSON with an offset for each cluster: {error}") from None


def _offset(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is not an offset")
    return value
