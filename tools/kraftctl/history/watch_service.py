"""The changes that the watch service delivers (docs/watch.md), before -> after.

The service delivers records, with secrets left out. It has no control records, so the voter set and the leader are not
among them.
"""

from __future__ import annotations

import sys
from base64 import b64encode

from controller.config.edges import is_loopback_host
from records.java.config_error import ConfigError
from records.printing.json_form import from_json
from records.printing.type_names import type_name
from records.registry import METADATA_RECORDS, metadata_class
from tools.kraftctl.points.changes import Committed, compare
from tools.kraftctl.points.noting_image import NotingImage
from tools.kraftctl.points.points import NoPoint
from tools.kraftctl.terminal import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import Any

    from kraft_quorum.client import Client
    from tools.kraftctl.points.changes import Change

_CODES = {type_name(name): code for code, (name, _) in METADATA_RECORDS.items()}


def changes_of_service(options: argparse.Namespace, wanted: Callable[[Change], bool]) -> Iterator[Committed]:
    """The changes from --from on, without end. Raises ConfigError, NoPoint, OSError if no node answers at the start."""
    try:
        from kraft_quorum.client import WatchFailed
    except ImportError:
        raise ConfigError("--grpc needs grpcio and msgpack: pip install grpcio msgpack") from None
    try:
        with _client(options) as client:
            where = f"cluster {client.status()['cluster_id']}, {client.target}"
            yield from _changes(client, options.begin, wanted, where)
    except WatchFailed as error:
        raise OSError(str(error)) from None


def _client(options: argparse.Namespace) -> Client:
    from controller.config.values.listeners import host_and_port
    from kraft_quorum.client import Client, Files

    targets = [part.strip() for part in options.grpc.split(",")]
    addresses = [address for each in targets if (address := host_and_port(each)) is not None]
    if len(addresses) < len(targets):
        raise ConfigError(f"--grpc {options.grpc}: HOST:PORT,… is expected")
    if options.ca is None and (options.cert or options.key):
        raise ConfigError("--cert and --key need --ca")
    if options.ca is None and options.token_file and not all(is_loopback_host(address[0]) for address in addresses):
        raise ConfigError(
            f"no token is sent to {options.grpc} without TLS; --ca names the authority of its certificate"
        )
    tls = None if options.ca is None else Files(options.ca, options.cert, options.key)
    return Client(targets, tls=tls, token_file=options.token_file)


def _changes(client: Client, begin: int | None, wanted: Callable[[Change], bool], where: str) -> Iterator[Committed]:
    """The changes from an offset on, or from now if it is None. where: for the first line, on stderr.

    For an offset the log is read from its beginning, so that the state before the offset is known.
    """
    image = NotingImage(wanted)
    former: NotingImage | None = None
    if begin is not None:
        _say_begin(where, begin)
    for update in client.watch(None if begin is None else 0):
        if update.kind == "image":
            if update.begins:
                former, image = image if image.notes else None, NotingImage(wanted)
            for change in update.changes:
                image.take(record_of(change, update.next_offset - 1), update.next_offset - 1)
            if not update.more:
                image.notes = True
                image.last_offset = update.next_offset - 1
                if former is not None:
                    at = (image.last_offset, -1, -1, "")
                    changes = compare(former.value_tables(), image.value_tables(), wanted)
                    yield from (Committed(*at, each) for each in changes)
                elif begin is None:
                    _say_begin(where, update.next_offset)
                elif update.next_offset > begin:
                    raise NoPoint(f"the log does not reach back to offset {begin}: only to {update.next_offset}")
            continue
        for change in update.changes:
            offset = change["offset"]
            image.notes = image.notes or (begin is not None and offset >= begin)
            image.take_batch([(record_of(change, offset), offset)], offset, change["epoch"], change["timestamp"])
        yield from image.changes
        image.changes.clear()


def _say_begin(where: str, offset: int) -> None:
    say(f"{where}, from offset {offset}", file=sys.stderr, flush=True)


def record_of(change: dict[str, Any], offset: int) -> Any:
    """The record of a change. A hidden value becomes one that differs from that of any other offset."""
    cls = metadata_class(_CODES[change["type"]])
    marker = f"[hidden] {offset}"
    if change["type"] != "CONFIG_RECORD":
        marker = b64encode(marker.encode()).decode()
    return from_json(cls, change["version"], {**change["data"], **dict.fromkeys(change.get("hidden") or (), marker)})
