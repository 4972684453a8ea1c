"""`meta.properties`: the cluster id and node id of a directory, and its own id (KIP-858)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from raft.storage.errors import StorageError
from raft.storage.files import read_whole, replace_file
from records.java.properties import PropertiesError, parse_properties, properties_text
from records.metadata_log import PARTITION_DIRECTORY
from records.uuids import is_reserved, parse_uuid, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from raft.storage.files import Files

META_PROPERTIES = "meta.properties"

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FIRST_BYTE_OF_HYPHEN = 0xF8  # a text form that begins with `-` has 0b111110 as its first six bits


class MetaProperties(NamedTuple):
    """The file's values; version 0 is of ZooKeeper clusters, and may lack any of them."""

    version: int = 1
    cluster_id: str | None = None
    node_id: int | None = None
    directory_id: bytes | None = None


def meta_properties_text(values: MetaProperties, time_s: int) -> bytes:
    """The file as Kafka writes it; time_s: wall clock, for its second line, in UTC."""
    lines: dict[str, str] = {}
    if values.node_id is not None:
        lines["broker.id" if values.version == 0 else "node.id"] = str(values.node_id)
    if values.directory_id is not None:
        lines["directory.id"] = uuid_text(values.directory_id)
    lines["version"] = str(values.version)
    if values.cluster_id is not None:
        lines["cluster.id"] = values.cluster_id
    return properties_text(lines, ("", _java_date(time_s))).encode()


def parse_meta_properties(text: bytes) -> MetaProperties:
    """The values in the file; raises ValueError if its version requires others."""
    try:
        properties = parse_properties(text)
    except PropertiesError as error:
        raise ValueError(str(error)) from None
    version = _number(properties, "version") if "version" in properties else 0
    if version not in {0, 1}:
        raise ValueError(f"version is {version}, only 0 and 1 are read")
    name = "broker.id" if version == 0 else "node.id"
    cluster_id = properties.get("cluster.id")
    if version == 1:
        for key in (name, "cluster.id"):
            if key not in properties:
                raise ValueError(f"{key} is missing")
    directory_id = None
    if "directory.id" in properties:
        try:
            directory_id = parse_uuid(properties["directory.id"])
        except ValueError as error:
            raise ValueError(f"directory.id: {error}") from None
    return MetaProperties(version, cluster_id, _number(properties, name) if name in properties else None, directory_id)


def read_meta_properties(files: Files, directory: str) -> MetaProperties | None:
    """The values of a node's directory; None if it is missing or not formatted.

    Raises StorageError if the file cannot be read.
    """
    path = f"{directory}/{META_PROPERTIES}"
    try:
        return parse_meta_properties(read_whole(files, path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, OSError) as error:
        raise StorageError(f"Error loading {path}: {error}") from None


def write_meta_properties(files: Files, directory: str, values: MetaProperties, time_s: int) -> None:
    """Mark a directory; it is on disk when this returns."""
    replace_file(files, f"{directory}/{META_PROPERTIES}", meta_properties_text(values, time_s))


def check_directories(
    files: Files, directories: Mapping[str, MetaProperties | None], metadata_directory: str, node_id: int
) -> MetaProperties:
    """The identity of the node: the values of the metadata directory. directories: all of the node's.

    Raises StorageError if the directories are not those of this node, with the checks of Kafka's start in its order.
    """
    formatted = {path: values for path, values in sorted(directories.items()) if values is not None}
    partition = f"{metadata_directory}/{PARTITION_DIRECTORY}"
    if metadata_directory not in formatted and files.is_directory(partition) and files.list(partition):
        # Kafka says here to format it, by which the directory would lose its id.
        raise StorageError(
            f"{metadata_directory}/{META_PROPERTIES} is missing, and the directory has a metadata log: do not format "
            "it. `kraftctl doctor -c FILE` prints how to restore the file"
        )
    if not formatted:
        raise StorageError(
            f"No readable meta.properties files found in {', '.join(sorted(directories))}: "
            "format the directories with kafka-storage first."
        )
    _check_ids(formatted, node_id)
    for path in formatted:
        stray = f"{path}/{PARTITION_DIRECTORY}"
        if path != metadata_directory and files.is_directory(stray):
            raise StorageError(
                f"Found unexpected metadata location in data directory `{stray}` "
                f"(the configured metadata directory is {metadata_directory})."
            )
    for path in sorted(directories):
        if path not in formatted:
            raise StorageError(
                f"No `meta.properties` found in {path} (have you run `kafka-storage.sh` to format the directory?)"
            )
    values = formatted[metadata_directory]
    if values.node_id is None or values.cluster_id is None:
        missing = "node ID" if values.node_id is None else "cluster ID"
        raise StorageError(f"Error: {missing} not found in {metadata_directory}")
    return values


def new_directory_id(draw: Callable[[int], int], taken: Mapping[str, MetaProperties | None]) -> bytes:
    """A directory id: 128 bits of `draw(128)`, none that Kafka reserves, none that begins with `-`, none in `taken`."""
    used = {values.directory_id for values in taken.values() if values is not None}
    while True:
        directory_id = draw(128).to_bytes(16, "big")
        if (
            directory_id[0] & 0xFC != _FIRST_BYTE_OF_HYPHEN
            and not is_reserved(directory_id)
            and directory_id not in used
        ):
            return directory_id


def _check_ids(formatted: Mapping[str, MetaProperties], node_id: int) -> None:
    cluster_id = None
    seen: dict[bytes, str] = {}
    for directory, values in formatted.items():
        path = f"{directory}/{META_PROPERTIES}"
        if values.cluster_id is not None:
            if cluster_id is None:
                cluster_id = values.cluster_id
            elif values.cluster_id != cluster_id:
                raise StorageError(
                    f"Invalid cluster.id in: {path}. Expected {cluster_id}, but read {values.cluster_id}"
                )
        if values.node_id is not None and values.node_id != node_id:
            raise StorageError(
                f"Stored node id {values.node_id} doesn't match previous node id {node_id} in {path}. If you moved your"
                " data, make sure your configured node id matches. If you intend to create a new node, you should"
                " remove all data in your data directories."
            )
        if values.directory_id is None:
            continue
        text = uuid_text(values.directory_id)
        if is_reserved(values.directory_id):
            raise StorageError(f"Invalid reserved directory ID {text} found in {directory}")
        if values.directory_id in seen:
            other = seen[values.directory_id]
            raise StorageError(
                f"Duplicate directory ID {text} found. It was the ID of {other}, but also of {directory}"
            )
        seen[values.directory_id] = directory


def _number(properties: Mapping[str, str], key: str) -> int:
    text = properties[key]
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or not -(1 << 31) <= int(text) < 1 << 31:
        raise ValueError(f"{key} is {text[:20]!r}, not a number")
    return int(text)


def _java_date(time_s: int) -> str:
    """`Sat Nov 21 04:54:10 UTC 2026`, whatever the locale."""
    at = time.gmtime(time_s)
    clock = f"{at.tm_hour:02d}:{at.tm_min:02d}:{at.tm_sec:02d}"
    return f"{_DAYS[at.tm_wday]} {_MONTHS[at.tm_mon - 1]} {at.tm_mday:02d} {clock} UTC {at.tm_year}"
