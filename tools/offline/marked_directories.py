"""The `meta.properties` of each log directory of a node; errors have the texts of Kafka's tools."""

from __future__ import annotations

from raft.storage.meta_properties import META_PROPERTIES, MetaProperties
from records.java.java_forms import integer, path
from records.uuids import is_reserved, parse_uuid, uuid_text
from tools.config_file import read_properties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class MarkError(Exception):
    """A `meta.properties` that is not valid for its version. cause: that of Java's exception, or None."""

    def __init__(self, message: str, cause: str | None = None) -> None:
        super().__init__(message)
        self.cause = cause


def path_of(directory: str) -> str:
    return path(f"{directory}/{META_PROPERTIES}")


def read_mark(directory: str) -> MetaProperties:
    """The values in a directory's file; raises OSError, MarkError, ConfigError if it is not a properties file."""
    properties = read_properties(path_of(directory))
    version = _version(properties.get("version", "0"))
    name = "broker.id" if version == 0 else "node.id"
    node_id = _number(properties, name) if version == 1 or name in properties else None
    directory_id = None
    if "directory.id" in properties:
        directory_id = _directory_id(properties["directory.id"])
    if version == 1 and "cluster.id" not in properties:
        raise MarkError("cluster.id was not found.")
    return MetaProperties(version, properties.get("cluster.id"), node_id, directory_id)


def _version(text: str) -> int:
    try:
        number = integer(text.strip())
    except ValueError:
        raise MarkError(f"Invalid meta.properties version string '{text}'") from None
    if number not in (0, 1):
        raise MarkError(f"Unknown meta.properties version number {number}")
    return number


def _number(properties: Mapping[str, str], key: str) -> int:
    if key not in properties:
        raise MarkError(f"Failed to find {key}")
    try:
        return integer(properties[key])
    except ValueError as error:
        raise MarkError(
            f"Unable to read {key} as a base-10 number.", f"java.lang.NumberFormatException: {error}"
        ) from None


def _directory_id(text: str) -> bytes:
    try:
        return parse_uuid(text)
    except ValueError as error:
        raise MarkError(
            f"Unable to read directory.id as a Uuid: {error}", f"java.lang.IllegalArgumentException: {error}"
        ) from None


def check_marks(marks: Mapping[str, MetaProperties], cluster_id: str, node_id: int) -> None:
    """Check the formatted directories against the given ids; raises MarkError for the first mismatch."""
    seen: dict[bytes, str] = {}
    for directory, mark in sorted(marks.items()):
        file = path_of(directory)
        if mark.cluster_id is not None and mark.cluster_id != cluster_id:
            raise MarkError(f"Invalid cluster.id in: {file}. Expected {cluster_id}, but read {mark.cluster_id}")
        if mark.node_id is not None and mark.node_id != node_id:
            raise MarkError(
                f"Stored node id {mark.node_id} doesn't match previous node id {node_id} in {file}. If you moved your "
                "data, make sure your configured node id matches. If you intend to create a new node, you should "
                "remove all data in your data directories."
            )
        if mark.directory_id is None:
            continue
        text = uuid_text(mark.directory_id)
        if is_reserved(mark.directory_id):
            raise MarkError(f"Invalid reserved directory ID {text} found in {directory}")
        if mark.directory_id in seen:
            raise MarkError(
                f"Duplicate directory ID Optional[{text}] found. It was the ID of {seen[mark.directory_id]}, but also "
                f"of {directory}"
            )
        seen[mark.directory_id] = directory


def read_marks(directories: Iterable[str]) -> tuple[dict[str, MetaProperties], list[str], list[str]]:
    """The values of the formatted directories, the unformatted directories, and the unreadable ones."""
    from records.java.config_error import ConfigError

    marks = {}
    empty = []
    unreadable = []
    for directory in directories:
        try:
            marks[directory] = read_mark(directory)
        except FileNotFoundError:
            empty.append(directory)
        except (OSError, ConfigError, MarkError):
            unreadable.append(directory)
    return marks, empty, unreadable
