"""From a checked configuration to a running node: directories, lock, recovery, the cores, listeners, signals."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

from controller.config.documentation import read_documentation
from controller.config.edges import unprotected_edges
from controller.core.apis import served_versions
from controller.interface.env import Env
from controller.interface.settings import settings_of
from controller.node.authorizers import access_of
from controller.node.file_descriptors import raise_file_limit, shares
from controller.node.long_requests import PROMPT_APIS, URGENT_APIS, is_long
from controller.node.long_thread import LongThread
from controller.node.making import Edges, Setup, make_node
from controller.node.plugins import policies_of
from controller.node.request_bounds import HELD_BYTES_MAX, LARGE_APIS, LARGE_BYTES_MAX, SMALL_BYTES_MAX
from controller.security.listeners import Security
from controller.server.door import Door
from controller.server.identity import Identity
from controller.server.self_checks import Certificate, SelfChecks
from controller.server.service_manager import ServiceManager
from controller.server.stack_dumps import StackDumps
from controller.server.started_threads import LOOKUP_THREADS, start_threads_of
from raft.interface.config import Endpoint, RaftConfig, ReplicaKey, Voter
from raft.interface.voters import VoterSet
from raft.network.channels import Channels
from raft.network.server import Server
from raft.storage.bootstrap import read_bootstrap
from raft.storage.errors import StorageError, remedy_of
from raft.storage.files import OsFiles
from raft.storage.flusher import FlushThread
from raft.storage.log import LogLimits
from records.extras import install_command
from records.features.levels import supported_features
from records.frame import decode_record
from records.java.config_error import ConfigError
from records.metadata_log import PARTITION_DIRECTORY
from records.wire import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from controller.config.node import NodeConfig
    from controller.node.logging.logs import Log
    from controller.node.node import Node
    from controller.server.grpc.port import GrpcPort
    from controller.server.http.port import HttpPort
    from raft.interface.recovered import Recovered
    from raft.network.security import ClientSecurity
    from raft.storage.files import Files
    from raft.storage.flusher import Executor

# The maximum time from SIGTERM to exit, but for leaving the voters: less than service managers wait, and than Kafka's
# own 5 s.
SHUTDOWN_S_MAX = 4.0
COLLECT_S = 10.0
# How many times in turn the collector waits for the next one, while there are large requests.
COLLECT_LATE = 30
# How long a thread holds the interpreter while another one waits for it; Python's default is 5 ms. The flush thread
# needs it back after each system call, so replay on the loop's thread made the save of a vote take 8 ms instead of 2.
SWITCH_INTERVAL_S = 0.0005
# Halves the number of Fetches of a busy quorum; the state of a standby is at most this much older.
HIGH_WATERMARK_DELAY_MS = 5
LARGEST_BYTES = 4 << 20


class StartRefused(Exception):
    """The node cannot start; the reason is one line."""


def raft_config(config: NodeConfig, cluster_id: str, endpoints: tuple[Endpoint, ...]) -> RaftConfig:
    """The configuration of the replica, from that of the node. It asks all bootstrap servers but itself."""
    own = {(endpoint.host, endpoint.port) for endpoint in endpoints}
    prefix = "controller.quorum."
    listener = config.controller_listener_names[0].upper()
    return RaftConfig(
        cluster_id=cluster_id,
        listener=listener,
        election_timeout_ms=config.number(prefix + "election.timeout.ms"),
        fetch_timeout_ms=config.number(prefix + "fetch.timeout.ms"),
        election_backoff_max_ms=config.number(prefix + "election.backoff.max.ms"),
        request_timeout_ms=config.number(prefix + "request.timeout.ms"),
        retry_backoff_ms=config.number(prefix + "retry.backoff.ms"),
        append_linger_ms=config.append_linger_ms,
        first_election_timeout_ms=config.number("kraft.first.election.timeout.ms"),
        high_watermark_delay_ms=HIGH_WATERMARK_DELAY_MS,
        fetch_bytes_max=config.number(prefix + "fetch.max.bytes"),
        fetch_snapshot_bytes_max=config.number(prefix + "fetch.snapshot.max.bytes"),
        retention_bytes_max=config.number("metadata.max.retention.bytes"),
        retention_ms=config.number("metadata.max.retention.ms"),
        pre_vote_on_lost_connection=config.flag("kraft.pre.vote.on.lost.connection"),
        asks_new_endpoints=config.asks_new_endpoints,
        finds_moved_voters=True,
        endpoints=endpoints,
        bootstrap_servers=tuple(Endpoint("", *each) for each in config.bootstrap_servers if each not in own),
        voter_overrides=tuple((voter, Endpoint(listener, *address)) for voter, address in config.voter_overrides),
        auto_join=config.flag(prefix + "auto.join.enable"),
    )


def static_voters(config: NodeConfig) -> VoterSet:
    """The voters of `controller.quorum.voters`; their directory ids are unknown."""
    listener = config.controller_listener_names[0].upper()
    return VoterSet(
        tuple(
            Voter(ReplicaKey(node_id), (Endpoint(listener, host, port),))
            for node_id, (host, port) in sorted(config.voters.items())
        )
    )


def voters_warning(config: NodeConfig, recovered: Recovered) -> str:
    """What `controller.quorum.voters` does not do, or lacks, at the kraft.version of the log; empty if all is well."""
    is_dynamic = bool(recovered.kraft_versions) and recovered.kraft_versions[-1][1] > 0
    if is_dynamic and config.voters:
        in_log = recovered.voter_sets[-1][1].ids if recovered.voter_sets else ()
        addresses = "" if config.bootstrap_servers else ", and set controller.quorum.bootstrap.servers"
        return (
            f"controller.quorum.voters (nodes {_list_ids(config.voters)}) is ignored: kraft.version is 1, and the "
            f"voters in the log are {_list_ids(in_log)}; remove it{addresses}"
        )
    if not is_dynamic and recovered.log_end > 0 and not config.voters:
        return (
            "controller.quorum.voters is not set, and kraft.version is 0: this node knows no voters, and does not "
            "vote; unless the quorum has kraft.version 1 meanwhile, set it again, and raise kraft.version first "
            "(kraftctl quorum migrate --to dynamic)"
        )
    return ""


def _list_ids(ids: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(ids)))


def bootstrap_records(files: Files, directory: str) -> list[tuple[Any, int]]:
    """The first records of an empty log: those that the formatter wrote, else those of the latest release."""
    values = read_bootstrap(files, directory)
    if values is None:
        return []
    try:
        return [decode_record(value) for value in values]
    except DecodeError as error:
        raise StorageError(f"the bootstrap records in {directory} cannot be read: {error}") from None


def build(
    config: NodeConfig,
    identity: Identity,
    *,
    loop: asyncio.AbstractEventLoop,
    log: Log,
    on_end: Callable[[], None],
    wall_ms: Callable[[], int],
    files: Files,
    executor: Executor,
    rng: Random,
    endpoints: tuple[Endpoint, ...],
    server: Server,
    security: ClientSecurity | None = None,
) -> Node:
    """Recover the directory, and make the node. Raises StorageError, OSError."""
    audit = None
    if path := config.text("kraft.audit.log"):
        from controller.node.audit.audit_log import open_audit

        def note(name: str, fields: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(lambda: log(name, **fields))

        audit = open_audit(path, config, wall_clock_ms, note)
    env = Env(
        identity.cluster_id,
        config.node_id,
        rng,
        settings_of(config),
        config,
        config.release,
        loggers=log.loggers,
        access=access_of(config, log),
        policies=policies_of(config, log),
        documentation=read_documentation,
    )
    setup = Setup(
        key=identity.key,
        directory=f"{identity.directory}/{PARTITION_DIRECTORY}",
        limits=LogLimits(config.number("metadata.log.segment.bytes"), config.number("metadata.log.segment.ms")),
        quorum=raft_config(config, identity.cluster_id, endpoints),
        static_voters=static_voters(config),
        env=env,
        endpoints=endpoints,
        features=supported_features(config.flag("unstable.feature.versions.enable"), config.release),
        bootstrap=lambda: bootstrap_records(files, identity.directory),
        rng=rng,
    )

    def channels(client: str, on_input: Callable[[Any], None]) -> Channels:
        return Channels(
            loop, f"{client}-{config.node_id}", rng, on_input=on_input, note=lambda name, fields: log(name, **fields),
            security=security,
        )  # fmt: skip

    edges = Edges(
        server=lambda _node: server,
        channels=lambda node: channels("raft-client", node.on_peer),
        own_channels=lambda node: channels("controller", node.on_own_answer),
        long_executor=lambda node: LongThread(loop, node.longest_step.add),
    )
    node = make_node(
        setup, files, loop, executor, edges, wall_ms=wall_ms, log=log, on_end=on_end, clock=time.perf_counter
    )
    if warning := voters_warning(config, node.storage.recovered):
        # One that was down while kraft.version was raised learns the voters from its leader's log. Until then it is not
        # ready, so that an orchestrator restarts no other one.
        log("configuration_warning", text=warning)
    if audit is not None:
        audit.begin(node.replica)
        node.admission.audit = audit
        node.wrap_effects(audit.around)
    return node


def advertised_endpoints(config: NodeConfig, bound: dict[str, int]) -> tuple[Endpoint, ...]:
    """The advertised endpoints of the controller's listeners. bound: listener -> bound port."""
    return tuple(
        Endpoint(endpoint.name, endpoint.host or socket.getfqdn(), endpoint.port or bound[endpoint.name])
        for endpoint in config.advertised_listeners
    )


async def open_http(loop: asyncio.AbstractEventLoop, config: NodeConfig, log: Log) -> HttpPort | None:
    """The HTTP port and those of a pod, listening; None, and nothing imported, if there are none. Raises OSError."""
    if config.text("kraft.http.listener") is None and not config.java_metrics.has_ports:
        return None
    from controller.server.http.port import HttpPort

    http = HttpPort(loop, config, log)
    try:
        await http.listen()
    except OSError:
        http.close()
        raise
    return http


async def open_grpc(config: NodeConfig, log: Log) -> GrpcPort | None:
    """The watch service, listening; None, and nothing imported, if it is not configured. Raises OSError."""
    address = config.text("kraft.grpc.listener")
    if address is None:
        return None
    try:
        from controller.server.grpc.opening import open_port
    except ModuleNotFoundError as error:
        raise OSError(f"kraft.grpc.listener needs {error.name}: {install_command('grpc')}") from None
    return await open_port(config, address, log)


async def serve(config: NodeConfig, log: Log) -> int:
    """Run until a signal or a failure; the exit code. Raises StartRefused."""
    loop = asyncio.get_running_loop()
    wanted = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, wanted.set)  # a signal before the node has started stops it right after
    rng = Random(os.urandom(32))
    files = OsFiles()
    try:
        await start_threads_of(loop)
    except RuntimeError as error:
        raise StartRefused(str(error)) from None
    try:
        directory = os.path.abspath(config.metadata_log_dir)  # noqa: PTH100
        directories = {os.path.abspath(path) for path in config.log_dirs}  # noqa: PTH100
        identity = Identity(directory, directories, config.node_id, files, rng, int(time.time()))
    except (StorageError, OSError) as error:
        raise StartRefused(_one_line(error)) from None
    ended = asyncio.Event()
    door = Door()

    def note(name: str, fields: dict[str, Any]) -> None:
        # Also called on the threads that fetch keys and tokens.
        loop.call_soon_threadsafe(lambda: log(name, **fields))

    try:
        security = Security(
            config, now=loop.time,
            note=note,
            wall_ms=wall_clock_ms, state=door.state,
        )  # fmt: skip
        own = security.client()
    except (ValueError, ConfigError) as error:
        identity.lock.release()
        raise StartRefused(_one_line(error)) from None
    share = shares(raise_file_limit())
    server = Server(
        loop,
        served_versions(config.release),
        on_request=door.on_request, on_disconnected=door.on_disconnected, note=lambda name, fields: log(name, **fields),
        is_left=is_long, urgent=URGENT_APIS, prompt=PROMPT_APIS, large=LARGE_APIS, clock=time.perf_counter,
        small_bytes_max=SMALL_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX + LARGE_BYTES_MAX,
        request_bytes_max=min(config.number("socket.request.max.bytes"), LARGE_BYTES_MAX),
        idle_ms_max=config.number("connections.max.idle.ms"),
        connections_max=max(min(config.number("max.connections"), share.connections), 1),
        backlog=share.backlog,
    )  # fmt: skip
    executor = FlushThread()
    stacks = StackDumps(loop)
    http = grpc = None
    for key, reason in unprotected_edges(config):
        log("edge_open", listener=key, reason=reason)
    try:
        http = await open_http(loop, config, log)
        grpc = await open_grpc(config, log)
        # The listeners first: a port in use is detected before the log is opened.
        bound = {}
        for endpoint in config.controller_listeners:
            bound[endpoint.name] = await server.listen(
                endpoint.name, endpoint.host or "", endpoint.port, security.listener(endpoint.name)
            )
        node = build(
            config, identity, loop=loop, log=log, on_end=ended.set, wall_ms=lambda: wall_of_loop_ms(loop), files=files,
            executor=executor, rng=rng, endpoints=advertised_endpoints(config, bound), server=server, security=own,
        )  # fmt: skip
        door.lead_to(node)
    except (StorageError, ConfigError, OSError) as error:
        server.close()
        if http is not None:
            http.close()
        if grpc is not None:
            await grpc.close()
        stacks.close()
        identity.lock.release()
        raise StartRefused(_one_line(error)) from None
    node.start()
    if http is not None:
        http.serve(node)
    if grpc is not None:
        grpc.serve(node)
    _collect_rarely(loop, lambda: node.long.queue.is_idle)

    def certificates() -> Iterator[Certificate]:
        yield from (Certificate(*certificate) for certificate in security.certificates())
        for key, port in (("kraft.http.listener", http), ("kraft.grpc.listener", grpc)):
            if port is not None and (certificate := port.certificate()) is not None:
                yield Certificate(key, *certificate)

    self_checks = SelfChecks(node, log, identity.directory, wall_ms=wall_clock_ms, certificates=certificates)
    self_checks.start()
    for name, port in bound.items():
        log("listening", listener=name, port=port)
    for name, port in http.ports() if http is not None else ():
        log("listening", listener=name, port=port)
    if grpc is not None:
        log("listening", listener="kraft.grpc.listener", port=grpc.port)
    manager = ServiceManager(os.environ)
    manager.serving(node)
    if wanted.is_set():
        stop(node, loop, manager)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, node, loop, manager)
    await ended.wait()
    self_checks.close()
    if node.admission.audit is not None:
        node.admission.audit.close()
    manager.close(node.failure)
    if http is not None:
        http.close()
    if grpc is not None:
        await grpc.close()
    security.close()
    stacks.close()
    identity.lock.release()
    log("node_stopped")
    return 1 if node.failure is not None else 0


def wall_clock_ms() -> int:
    """The wall clock, in ms since 1970."""
    return int(time.time() * 1000)


def wall_of_loop_ms(loop: asyncio.AbstractEventLoop) -> int:
    """The wall clock, in ms since 1970, at the time of the loop, which uvloop reads once in an iteration.

    A time of the loop plus the offset between the two is then never after the wall clock: kafka-metadata-quorum refuses
    a last fetch that is.
    """
    offset_ns = time.time_ns() - time.monotonic_ns()
    return int(loop.time() * 1000) + offset_ns // 1_000_000


def _one_line(error: Exception) -> str:
    """The text of an OSError, without its number; for a failing disk with the remedy."""
    if not isinstance(error, OSError) or not error.strerror:
        line = str(error)
    else:
        line = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    remedy = remedy_of(error)
    return line if remedy is None else f"{line}; {remedy}"


def stop(node: Node, loop: asyncio.AbstractEventLoop, manager: ServiceManager) -> None:
    """Leave the voters, hand leadership over, then stop; stop in any case SHUTDOWN_S_MAX after leaving has ended."""
    manager.stopping()
    node.shut_down(lambda: loop.call_later(SHUTDOWN_S_MAX, node.end_now))


def _collect_rarely(loop: asyncio.AbstractEventLoop, is_idle: Callable[[], bool]) -> None:
    """Avoid long pauses of the garbage collector: freeze the present objects, and collect new ones every few seconds,
    which takes less than a millisecond. is_idle: whether no large request is in memory; else it takes half a second for
    a million entries.
    """
    # glibc maps each large block again until one of that size was freed; do that now, not in the first fence.
    bytes(LARGEST_BYTES)
    gc.collect()
    gc.freeze()
    gc.disable()

    def collect(left: int) -> None:
        if left and not is_idle():
            loop.call_later(COLLECT_S, collect, left - 1)
            return
        gc.collect(1)
        loop.call_later(COLLECT_S, collect, COLLECT_LATE)

    loop.call_later(COLLECT_S, collect, COLLECT_LATE)


def run_node(config: NodeConfig, log: Log) -> int:
    """Run one node until it stops; the exit code: 0 after a signal, 1 after a failure. Raises StartRefused."""
    if sys.platform == "win32":
        return asyncio.run(serve(config, log))
    os.environ.setdefault("UV_THREADPOOL_SIZE", str(LOOKUP_THREADS))
    import uvloop

    sys.setswitchinterval(SWITCH_INTERVAL_S)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(serve(config, log))
