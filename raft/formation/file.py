"""`kraft-formation.json`: what a controller with an empty disk keeps until it is formatted."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from raft.formation.rules import InitialController, is_possible
from raft.storage.errors import StorageError
from raft.storage.files import read_whole, replace_file
from records.uuids import parse_uuid, uuid_text

if TYPE_CHECKING:
    from typing import Any

    from raft.storage.files import Files

NAME = "kraft-formation.json"
VERSION = 1


class Stored(NamedTuple):
    """The contents of the file. saved: the initial controllers, empty before they are saved; former: those
    that were saved before, and replaced.
    """

    directory_id: bytes
    saved: tuple[InitialController, ...] = ()
    former: tuple[tuple[InitialController, ...], ...] = ()


def read_formation(files: Files, directory: str) -> Stored | None:
    """The contents; None if there is no file. Raises StorageError."""
    path = f"{directory}/{NAME}"
    try:
        text = read_whole(files, path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error}") from None
    try:
        tree = json.loads(text)
        if tree["version"] != VERSION:
            raise ValueError(f"version {tree['version']!r}, only {VERSION} is read")
        former = tuple(tuple(map(_controller, each)) for each in tree["former"])
        return Stored(parse_uuid(tree["directory_id"]), tuple(map(_controller, tree["saved"])), former)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(
            f"{path} is damaged ({error!r}). If this controller was never part of a quorum, remove the file"
        ) from None


def write_formation(files: Files, directory: str, stored: Stored) -> None:
    """Replace the file; it is on disk when this returns. Raises OSError."""
    tree = {
        "version": VERSION,
        "directory_id": uuid_text(stored.directory_id),
        "saved": [_tree(each) for each in stored.saved],
        "former": [[_tree(each) for each in controllers] for controllers in stored.former],
    }
    replace_file(files, f"{directory}/{NAME}", json.dumps(tree, indent=1).encode() + b"\n")


def remove_formation(files: Files, directory: str) -> None:
    """Remove the file of a controller that is formatted, and one that was being written. Raises OSError."""
    for name in (NAME, f"{NAME}.tmp"):
        with suppress(FileNotFoundError):
            files.remove(f"{directory}/{name}")


def _tree(each: InitialController) -> dict[str, Any]:
    return {"id": each.node_id, "directory_id": uuid_text(each.directory_id), "host": each.host, "port": each.port}


def _controller(tree: dict[str, Any]) -> InitialController:
    values = tree["id"], parse_uuid(tree["directory_id"]), tree["host"], tree["port"]
    if [type(value) for value in values] != [int, bytes, str, int]:
        raise ValueError(f"{tree} is no controller")
    controller = InitialController(*values)
    if not is_possible(controller):
        raise ValueError(f"{tree} is no controller")
    return controller
