"""Where the metadata is read: a directory, a file or a live quorum, and the one function that reads it at a point."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from records.metadata_log import PARTITION_DIRECTORY
from tools.kraftctl.points.points import OneFile, PastDirectory

# pathlib costs 10 ms
# ruff: noqa: PTH112, PTH113, PTH202, PTH208

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address
    from tools.kraftctl.points.noting_image import NotingImage
    from tools.kraftctl.points.points import Reading


class Place(NamedTuple):
    """Where the metadata is read: of the first three one is given. security: for addresses; None for PLAINTEXT."""

    directory: str | None = None
    file: str | None = None
    addresses: tuple[Address, ...] = ()
    security: ClientSecurity | None = None

    def __str__(self) -> str:
        return self.directory or self.file or ",".join(f"{host}:{port}" for host, port in self.addresses)


def add_place_options(
    parser: argparse.ArgumentParser, config: tuple[str, ...] = ("-c", "--config"), *, is_required: bool = True
) -> None:
    """The ways to name what is read. config: the flags of the controller.properties."""
    where = parser.add_mutually_exclusive_group(required=is_required)
    where.add_argument("--directory", metavar="DIR", help="a log directory, also of a running node, or a backup")
    where.add_argument("--file", metavar="FILE", help="a checkpoint, or a segment of the log")
    where.add_argument("--bootstrap-controller", metavar="HOST:PORT,…", help="a live quorum: one or more controllers")
    where.add_argument(
        *config, dest="config", metavar="FILE", help="a live quorum: a controller.properties that names it"
    )
    parser.add_argument("--command-config", metavar="FILE", help="properties of the client, as for Kafka's tools")


def place_of(options: argparse.Namespace) -> Place | None:
    """What the options name; None if nothing. Raises ConfigError, OSError."""
    if options.directory is not None:
        return Place(directory=options.directory)
    if options.file is not None:
        return Place(file=options.file)
    if options.bootstrap_controller is None and options.config is None:
        return None
    from tools.client.quorum_options import addresses_of, security_of

    return Place(addresses=tuple(addresses_of(options)), security=security_of(options))


def size_of(place: Place) -> int:
    """The bytes of log that a reading may replay, for a progress bar; 0 if unknown."""
    if place.file is not None:
        return os.path.getsize(place.file) if os.path.isfile(place.file) else 0
    if place.directory is None:
        return 0
    inner = f"{place.directory}/{PARTITION_DIRECTORY}"
    directory = inner if os.path.isdir(inner) else place.directory
    size = 0
    with suppress(OSError):  # it is not there, or a running node has removed a segment: the reading says so
        names = sorted(os.listdir(directory))
        segments, checkpoints = ([name for name in names if name.endswith(end)] for end in (".log", ".checkpoint"))
        for name in (*segments, *checkpoints[-1:]):
            size += os.path.getsize(f"{directory}/{name}")
    return size


def read(place: Place, reading: Reading, client_id: str) -> NotingImage:
    """The state at the end of a reading. Raises NoPoint, NoMetadata, DamagedLog, OSError."""
    if place.directory is not None:
        image = PastDirectory(place.directory, reading).update()
    elif place.file is not None:
        image = OneFile(place.file, reading).update()
    else:
        from tools.kraftctl.points.past_quorum import read_quorum

        image = read_quorum(list(place.addresses), client_id, reading, place.security)
    reading.check(str(place))
    return image
