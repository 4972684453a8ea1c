"""The formation of a quorum over the network: what `raft.formation` decides, before a node has a formatted disk."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any

from controller.core.apis import served_versions
from controller.interface.refusals import error_response
from controller.security.listeners import Security
from controller.server.start import advertised_endpoints, open_http, wall_clock_ms
from raft.formation.file import Stored, read_formation, write_formation
from raft.formation.rules import (
    Form,
    Formatted,
    InitialController,
    Join,
    Save,
    Silent,
    Unformatted,
    cluster_id_of,
    decide,
    is_possible,
)
from raft.formation.signs import SIGNS, sign_of
from raft.interface.config import Endpoint
from raft.interface.effects import Send
from raft.interface.inputs import Answered, Failed, Refused
from raft.network.channels import Channels
from raft.network.connection import address_text
from raft.network.server import Server
from raft.storage.directory_lock import DirectoryLock
from raft.storage.files import OsFiles
from raft.storage.meta_properties import new_directory_id
from records.errors import ApiError, Error, error_name
from records.messages.cluster import DescribeClusterRequest, DescribeClusterResponse
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.formation import QuorumFormationRequest, QuorumFormationResponse
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from tools.offline.new_directories import make_directories

if TYPE_CHECKING:
    from controller.config.node import NodeConfig
    from controller.node.logging.logs import Log
    from raft.formation.rules import Answer, Sign
    from raft.interface.inputs import Input
    from raft.network.requests import Incoming

# ApiVersions, SASL and QuorumFormation: what a controller serves that has no metadata, besides SIGNS.
SERVED = {18: (0, 4), 32000: (0, 0)}
FETCH_WITH_CLUSTER_ID = 12
TEXT_MAX = 200  # of what a peer tells, in a reason
CONTROLLERS = 2  # the endpoint type of DescribeCluster (KIP-919)
ROUND_S = 0.5
# Once the initial controllers are saved, and only the others have to save them, too.
SAVED_ROUND_S = 0.1
ANSWER_S = 2.0
HAS_A_SIGN = "it has a request of a quorum that exists, and its log says of which"
LEADERLESS = "it belongs to a quorum that has no leader now, and so does not tell its cluster id"
# How often the same reason for waiting is logged again.
REMIND_S = 60.0


class Formation:
    """One controller with an empty disk. own: its present state, which it answers; directory: absolute, it exists.

    Raises StorageError for a damaged file.
    """

    def __init__(self, config: NodeConfig, directory: str, rng: Random, log: Log) -> None:
        self._config = config
        self._directory = directory
        self._rng = rng
        self._log = log
        self._files = OsFiles()
        stored = read_formation(self._files, directory)
        self._is_new = stored is None
        self._stored = stored or Stored(new_directory_id(rng.getrandbits, {}))
        self._round = 0
        self._answers: dict[str, Answer] = {}
        self._are_in = asyncio.Event()
        self._peers = {
            -2 - place: Endpoint("", host, port) for place, (host, port) in enumerate(config.bootstrap_servers)
        }
        self._formatted: set[int] = set()  # the peers that have a metadata log
        self._asked: dict[int, list[str]] = {}  # by peer, the cluster ids that are not refused yet
        self._given = config.text("kraft.quorum.bootstrap.cluster.id") or ""
        served = served_versions(config.release)
        self._served = SERVED | {key: served[key] for key in SIGNS}
        self._sign: Sign | None = None
        self._listens_until = inf  # monotonic, in s
        self._told = ("", -REMIND_S)
        self._address = ("", 0)
        self._server: Server
        self._channels: Channels

    @property
    def own(self) -> Unformatted:
        controller = InitialController(self._config.node_id, self._stored.directory_id, *self._address)
        number = self._config.number("kraft.quorum.bootstrap.expect")
        is_listening = time.monotonic() < self._listens_until
        stored = self._stored
        return Unformatted(controller, stored.saved, number, self._given, stored.former, self._sign, is_listening)

    @property
    def directory_id(self) -> bytes:
        """The id that the metadata directory is to have."""
        return self._stored.directory_id

    async def run(self, stop: asyncio.Event) -> Form | Join | None:
        """Ask and answer until it is known what to format; None if `stop` was set before.

        Raises OSError, ConfigError, ValueError where it cannot listen or save.
        """
        loop = asyncio.get_running_loop()
        security = Security(self._config, now=loop.time, note=self._note, wall_ms=wall_clock_ms, state=lambda: None)
        self._server = Server(
            loop, self._served, on_request=self._on_request, on_disconnected=lambda _number: None, note=self._note
        )
        self._channels = Channels(
            loop, f"raft-client-{self._config.node_id}", self._rng,
            on_input=self._on_input, note=self._note, security=security.client(),
        )  # fmt: skip
        try:
            bound = {}
            for endpoint in self._config.controller_listeners:
                bound[endpoint.name] = await self._server.listen(
                    endpoint.name, endpoint.host or "", endpoint.port, security.listener(endpoint.name)
                )
            first = advertised_endpoints(self._config, bound)[0]
            self._address = first.host, first.port
            self._listens_until = time.monotonic() + listening_s(self._config)
            if self._is_new:
                write_formation(self._files, self._directory, self._stored)
            return await self._ask_until_decided(stop)
        finally:
            self._channels.close()
            self._server.close()
            security.close()

    async def _ask_until_decided(self, stop: asyncio.Event) -> Form | Join | None:
        while not stop.is_set():
            own = self.own
            await self._ask_all()
            decision = decide(own, self._answers)
            if isinstance(decision, Form | Join):
                return decision
            if isinstance(decision, Save):
                self._save(decision.controllers)
                self._log("initial_controllers_saved", controllers=_ids_of(decision.controllers))
                continue
            self._tell(decision.reason)
            try:
                pause_s = SAVED_ROUND_S if self._stored.saved else ROUND_S
                await asyncio.wait_for(stop.wait(), pause_s * (1 + self._rng.random()))
            except TimeoutError:
                continue
        return None

    async def _ask_all(self) -> None:
        """One round: each bootstrap server is asked once, and those that do not answer in time are silent."""
        self._round += 1
        self._answers = {}
        self._formatted.clear()
        self._are_in.clear()
        for peer, endpoint in self._peers.items():
            self._channels.send(Send(peer, self._round, endpoint, QuorumFormationRequest()))
        try:
            await asyncio.wait_for(self._are_in.wait(), ANSWER_S)
        except TimeoutError:
            for peer, endpoint in self._peers.items():
                reason = LEADERLESS if peer in self._formatted else f"no answer within {ANSWER_S:g} s"
                self._answers.setdefault(_text_of(endpoint), Silent(reason))

    def _on_input(self, event: Input) -> None:
        if isinstance(event, Refused):
            self._put(event.peer, Silent("connection refused"))
        elif isinstance(event, Failed) and event.number == self._round:
            if event.error == Error.UNSUPPORTED_VERSION:
                self._ask_formatted(event.peer, self._cluster_ids())
            else:
                failure = self._channels.failures().get(event.peer)
                self._put(event.peer, Silent(failure[0].partition(": ")[2] if failure else error_name(event.error)))
        elif isinstance(event, Answered) and event.number == self._round:
            if not isinstance(event.response, FetchResponse):
                self._put(event.peer, read_answer(event.response, len(self._peers)))
                return
            cluster_id, *others = self._asked[event.peer]
            error_code = event.response.error_code
            if error_code == Error.INCONSISTENT_CLUSTER_ID:
                self._ask_formatted(event.peer, others)
            elif error_code == Error.INVALID_REQUEST:
                # The id is its own: what it refuses is that there is no partition.
                self._put(event.peer, Formatted(cluster_id))
            else:
                self._put(event.peer, Silent(error_name(error_code)))

    def _ask_formatted(self, peer: int, cluster_ids: list[str]) -> None:
        """Ask a controller with a metadata log, ours or stock, for its cluster id.

        It tells the id only while there is a leader. But at any time it says whether an id is its own, to a Fetch of no
        partition, which has no effect.
        """
        request: Any = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=CONTROLLERS)
        least_version = 1
        self._formatted.add(peer)
        if cluster_ids:
            self._asked[peer] = cluster_ids
            request, least_version = _fetch_nothing(cluster_ids[0]), FETCH_WITH_CLUSTER_ID
        self._channels.send(Send(peer, self._round, self._peers[peer], request, least_version))

    def _cluster_ids(self) -> list[str]:
        """The ids that a quorum of this controller's initial controllers may have."""
        saved = self._stored.saved
        if self._given:
            return [self._given]
        return [cluster_id_of(each) for each in (saved, *self._stored.former) if each]

    def _save(self, controllers: tuple[InitialController, ...]) -> None:
        before = self._stored.saved
        former = dict.fromkeys(each for each in (*self._stored.former, before) if each and each != controllers)
        stored = self._stored._replace(saved=controllers, former=tuple(former))
        write_formation(self._files, self._directory, stored)
        self._stored = stored  # answers may tell it from now on

    def _put(self, peer: int, answer: Answer) -> None:
        self._answers.setdefault(_text_of(self._peers[peer]), answer)
        if len(self._answers) == len(set(map(_text_of, self._peers.values()))):
            self._are_in.set()

    def _on_request(self, incoming: Incoming) -> None:
        if isinstance(incoming.message, QuorumFormationRequest):
            self._server.reply(incoming.source, _response_of(self.own))
        elif isinstance(incoming.message, ApiVersionsRequest):
            keys = tuple(
                ApiVersionsResponse.ApiVersion(api_key=key, min_version=first, max_version=last)
                for key, (first, last) in self._served.items()
            )
            self._server.reply(incoming.source, ApiVersionsResponse(error_code=0, api_keys=keys))
        elif incoming.api_key in SIGNS:
            sign = sign_of(self.own, incoming.message)
            if sign is not None and (self._sign is None or sign.leads):
                self._sign = sign
            # The sender takes that for a lost connection, and asks again after its backoff.
            refusal = ApiError(Error.BROKER_NOT_AVAILABLE, "this controller has no metadata yet")
            self._server.reply(incoming.source, error_response(incoming.message, refusal, incoming.version))
        else:
            self._server.disconnect(incoming.source, "this controller has no metadata yet")

    def _tell(self, reason: str) -> None:
        now = time.monotonic()
        if now - self._told[1] >= (REMIND_S if reason == self._told[0] else ROUND_S):
            self._told = reason, now
            self._log("quorum_not_formed", reason=reason)

    def _note(self, name: str, fields: dict[str, Any]) -> None:
        # Other controllers start at their own time: only what is wrong with a connection that was accepted is logged.
        if name in ("connection_refused", "authentication_failed"):
            self._log(name, **fields)


async def find_quorum(config: NodeConfig, directory: str, log: Log) -> tuple[Form | Join | None, bytes]:
    """What to format a directory as, and its directory id; None where a signal came first.

    directory: absolute. Raises StorageError, OSError, ConfigError, ValueError.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    make_directories(directory)
    with suppress(PermissionError):  # that of others, which this user may pass through and not read
        # A process that was killed may have made the directory, and not synced its name.
        OsFiles().sync_directory(os.path.dirname(directory))  # noqa: PTH120
    lock = DirectoryLock(OsFiles(), directory)
    http = None
    try:
        http = await open_http(loop, config, log)  # it is alive, and has not started
        formation = Formation(config, directory, Random(os.urandom(32)), log)
        log("quorum_formation_begins", expect=formation.own.expect, saved=_ids_of(formation.own.saved))
        return await formation.run(stop), formation.directory_id
    finally:
        if http is not None:
            http.close()
        lock.release()


def listening_s(config: NodeConfig) -> float:
    """How long a controller listens before it saves initial controllers, in seconds.

    A voter whose leader is lost notices within the fetch timeout, and asks for votes again within two election timeouts
    and a backoff.
    """
    prefix = "controller.quorum."
    election_ms = 2 * config.number(prefix + "election.timeout.ms") + config.number(prefix + "election.backoff.max.ms")
    return (config.number(prefix + "fetch.timeout.ms") + election_ms) / 1000


def _fetch_nothing(cluster_id: str) -> FetchRequest:
    return FetchRequest(cluster_id=cluster_id, max_wait_ms=0, min_bytes=0, topics=())


def read_answer(response: Any, count_max: int) -> Answer:
    """count_max: how many controllers a peer can have saved."""
    if response.error_code:
        has_sign = response.error_code == Error.INCONSISTENT_VOTER_SET
        return Silent(HAS_A_SIGN if has_sign else error_name(response.error_code))
    if isinstance(response, DescribeClusterResponse):
        return Formatted(response.cluster_id) if response.cluster_id else Silent("it tells no cluster id")
    assert isinstance(response, QuorumFormationResponse)
    if len(response.saved) > count_max or len(response.cluster_id) > TEXT_MAX:
        return Silent(f"it tells of {len(response.saved)} controllers, and {count_max} are possible")
    controllers = [
        InitialController(each.node_id, bytes(each.directory_id), each.host, each.port)
        for each in (response.controller, *response.saved)
    ]
    for each in controllers:
        if not is_possible(each):
            return Silent(f"it tells of no possible controller: {each.node_id}@{each.host[:TEXT_MAX]}:{each.port}")
    return Unformatted(controllers[0], tuple(sorted(controllers[1:])), response.expect, response.cluster_id)


def _response_of(own: Unformatted) -> QuorumFormationResponse:
    def encode_controller(each: InitialController) -> QuorumFormationResponse.InitialController:
        return QuorumFormationResponse.InitialController(**each._asdict())

    error = Error.NONE if own.sign is None else Error.INCONSISTENT_VOTER_SET
    return QuorumFormationResponse(
        error_code=error, expect=own.expect, cluster_id=own.cluster_id, controller=encode_controller(own.controller),
        saved=tuple(map(encode_controller, own.saved)),
    )  # fmt: skip


def _text_of(endpoint: Endpoint) -> str:
    return address_text(endpoint.host, endpoint.port)


def _ids_of(controllers: tuple[InitialController, ...]) -> list[int]:
    return [each.node_id for each in controllers]
