"""A live quorum as a source: committed records are fetched from its leader, as an observer does (KIP-595, KIP-630).

Like any empty replica, the reader must fetch a snapshot first, if there is one. Each task has a connection of its own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.source.columns import batch_of_findings
from pipeline.source.options import OptionError
from pipeline.source.ranges import Finding, Plan, of_no_file
from pipeline.source.reading import Wanted, decode
from records.batch import CorruptBatch, read_header
from records.java.config_error import ConfigError
from tools.client.client_config import ClientConfig, read_client_config
from tools.client.observer import WAIT_S, Observer
from tools.client.quorum import NotAnswered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.client.quorum import Address, View

CLIENT_ID = "kraft-pipeline"
# Offsets of a task; how many bytes they are is not known before they are fetched.
OFFSETS_PER_RANGE = 1_000_000


def quorum_of(given: Mapping[str, str]) -> Quorum:
    """The quorum that the options name; raises OptionError, also for properties of the client that are wrong."""
    quorum = Quorum(addresses_of(given["quorum"]), given.get("client"), given.get("commandconfig"))
    quorum.client_config()
    return quorum


def addresses_of(text: str) -> tuple[Address, ...]:
    """The nodes in an option, host:port, separated by commas; raises OptionError."""
    addresses = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        host, sign, port = part.rpartition(":")
        if not sign or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise OptionError(f"quorum: {part!r} is not host:port")
        addresses.append((host.strip("[]"), int(port)))
    if not addresses:
        raise OptionError("quorum: no host:port given")
    return tuple(addresses)


class Quorum(NamedTuple):
    """The log of a live quorum.

    client: the client id; None for that of the properties. command_config: the file with the properties of the client,
    which each task reads, so that no secret is among the options of the source; None for PLAINTEXT.
    """

    addresses: tuple[Address, ...]
    client: str | None = None
    command_config: str | None = None

    def client_config(self) -> ClientConfig:
        """The properties of the client. Raises OptionError."""
        if self.command_config is None:
            return ClientConfig()
        try:
            return read_client_config(self.command_config)
        except (ConfigError, OSError) as error:
            raise OptionError(f"commandConfig: {error}") from None

    def observer(self, cluster_id: str = "") -> Observer:
        """A reader of the log; cluster_id: of no other cluster. Raises OptionError."""
        config = self.client_config()
        return Observer(
            list(self.addresses),
            self.client or config.client_id or CLIENT_ID,
            WAIT_S if config.timeout_s is None else config.timeout_s,
            config.security,
            cluster_id,
        )

    def plans(self, progress: Mapping[str, Mapping[str, int]], *, is_live: bool) -> tuple[list[Plan], list[Finding]]:
        """A plan for the committed records from the progress on. Raises NoLeader, OptionError."""
        del is_live
        with self.observer() as observer:
            leader = observer.repeat(partial(_ready, observer))
            done = progress.get(leader.cluster_id, {}).get("offset", 0)
            parts: list[Any] = []
            begin = done
            if done < leader.high_watermark:
                response = observer.repeat(partial(observer.fetch, done, bytes_max=1))
                if response.snapshot_id is not None and response.snapshot_id.end_offset >= 0:
                    snapshot = response.snapshot_id
                    parts.append(QuorumSnapshot(self, leader.cluster_id, snapshot.end_offset, snapshot.epoch))
                    begin = snapshot.end_offset
        for start in range(begin, leader.high_watermark, OFFSETS_PER_RANGE):
            end = min(start + OFFSETS_PER_RANGE, leader.high_watermark)
            parts.append(QuorumRange(self, leader.cluster_id, start, end))
        findings = []
        if begin > done > 0:
            problem = f"{leader.address[0]}: offsets {done} to {begin - 1} are in a snapshot alone"
            findings.append(Finding(leader.cluster_id, None, None, None, done, "gap", problem))
        return [Plan(leader.cluster_id, tuple(parts), tuple(findings), max(leader.high_watermark, done))], []


def _ready(observer: Observer) -> View:
    """The quorum, once its leader knows what is committed. Raises NotAnswered before."""
    view = observer.view()
    if view.high_watermark < 0:
        raise NotAnswered("the leader does not know its high watermark yet")
    if not view.cluster_id:
        raise NotAnswered("the leader does not say its cluster id yet")
    return view


class QuorumRange(NamedTuple):
    """Offsets that are fetched from the current leader. The fields of a `Range` that it cannot fill are unknown."""

    quorum: Quorum
    cluster_id: str
    base_offset: int
    end_offset: int
    until: int = (1 << 63) - 1
    checkpoint_end_offset: int = -1
    epoch: int = -1
    start: int = 0
    end: int = 0
    min_time_ms: int = -(1 << 62)
    max_time_ms: int = 1 << 62

    def read(self, schema: Any, wanted: Wanted) -> Iterator[Any]:
        """The rows of these offsets. Raises NoLeader, OptionError."""
        end = min(self.end_offset, self.until)
        wanted = wanted.within(self.base_offset, end)
        source = of_no_file(self, self.base_offset, end)
        offset = self.base_offset
        with self.quorum.observer(self.cluster_id) as observer:
            while offset < end:
                data = bytes(observer.repeat(partial(observer.fetch, offset)).records or b"")
                whole, last = _whole(data, offset)
                # The leader may also return batches below the offset, again and again.
                if not whole or last < offset:
                    raise NotAnswered(f"cluster {self.cluster_id}: no records at offset {offset}, expected up to {end}")
                yield from decode(whole, source, schema, wanted)
                offset = last + 1


class QuorumSnapshot(NamedTuple):
    """A snapshot that is fetched as a whole."""

    quorum: Quorum
    cluster_id: str
    checkpoint_end_offset: int
    epoch: int
    base_offset: int = 0
    end_offset: int = 0
    until: int = (1 << 63) - 1
    start: int = 0
    end: int = 0
    min_time_ms: int = -(1 << 62)
    max_time_ms: int = 1 << 62

    def read(self, schema: Any, wanted: Wanted) -> Iterator[Any]:
        """Its rows. Raises NoLeader, OptionError, or one of FAILURES where the leader has the snapshot no longer."""
        source = of_no_file(self, 0, self.checkpoint_end_offset)._replace(
            checkpoint_end_offset=self.checkpoint_end_offset
        )
        with self.quorum.observer(self.cluster_id) as observer:
            observer.repeat(observer.view)
            data = observer.fetch_snapshot(self.checkpoint_end_offset, self.epoch)
        try:
            yield from decode(data, source, schema, wanted)
        except CorruptBatch as error:
            finding = Finding(
                self.cluster_id, None, None, error.position, error.offset, "corrupt", f"snapshot: {error}",
                self.checkpoint_end_offset,
            )  # fmt: skip
            yield batch_of_findings([finding], schema)


def _whole(data: bytes, offset: int) -> tuple[bytes, int]:
    """The whole batches at the start of a response, and the last offset in them."""
    position, last = 0, offset - 1
    while (batch := read_header(data, position)) is not None:
        position += batch.size
        last = batch.last_offset
    return data[:position], last
