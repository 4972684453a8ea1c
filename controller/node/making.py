"""How a node is made: of its configuration, and of the loop, disk, clock and network around it.

The server and the simulation make their nodes here, each with edges of its own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from controller.config.resources import knows_config
from controller.core.controller import Controller
from controller.core.own_registration import OwnRegistration
from controller.node.node import Node, Parts
from controller.state.state import State
from raft.replica import Replica
from raft.storage.storage import Storage

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Mapping
    from random import Random
    from typing import Any

    from controller.interface.env import Env
    from controller.node.logs import Log
    from controller.node.long_thread import Executor as LongExecutor
    from raft.config import Endpoint, RaftConfig, ReplicaKey
    from raft.network.channels import Channels
    from raft.network.server import Server
    from raft.storage.files import Files
    from raft.storage.flusher import Executor
    from raft.storage.log import LogLimits
    from raft.voters import VoterSet


class Setup(NamedTuple):
    """What a node is, wherever it runs.

    directory: of the metadata partition. endpoints: those that the node registers, in its order. features: name -> the
    levels that it supports. bootstrap: reads the first records of an empty log, each with its version. rng: of the
    replica; `env` has that of the controller.
    """

    key: ReplicaKey
    directory: str
    limits: LogLimits
    quorum: RaftConfig
    static_voters: VoterSet
    env: Env
    endpoints: Iterable[Endpoint]
    features: Mapping[str, Any]
    bootstrap: Callable[[], list[tuple[Any, int]]]
    rng: Random


class Edges(NamedTuple):
    """What is around a node: each is made with the callbacks of the node, in this order."""

    server: Callable[[Node], Server]
    channels: Callable[[Node], Channels]
    own_channels: Callable[[Node], Channels]
    long_executor: Callable[[Node], LongExecutor]


def make_node(
    setup: Setup,
    files: Files,
    loop: asyncio.AbstractEventLoop,
    executor: Executor,
    edges: Edges,
    *,
    wall_ms: Callable[[], int],
    log: Log,
    on_end: Callable[[], None],
    clock: Callable[[], float] | None = None,
    make: Callable[..., Node] = Node,
) -> Node:
    """Recover the directory, and make the node, complete; `start` makes its first step. executor: flushes.

    The other arguments are those of `Node`. Raises StorageError, OSError.
    """

    def make_parts(node: Node) -> Parts:
        storage = Storage(
            files,
            setup.directory,
            executor,
            on_input=node.on_disk,
            on_failure=node.on_disk_failure,
            on_note=node.on_disk_note,
            limits=setup.limits,
        )
        env = setup.env
        env.now_ms = node.now_ms()
        replica = Replica(setup.quorum, setup.key, setup.static_voters, storage.recovered, setup.rng)
        registration = OwnRegistration(
            env.node_id, env.random.randbytes(16), [(endpoint, 0) for endpoint in setup.endpoints], setup.features,
            env.random,
        )  # fmt: skip
        controller = Controller(
            State(supported_features=setup.features, knows_config=partial(knows_config, release=setup.env.release)),
            env,
            bootstrap=setup.bootstrap(),
            registration=registration,
            is_catching_up=True,
        )
        return Parts(
            storage, replica, controller, edges.server(node), edges.channels(node), edges.own_channels(node),
            edges.long_executor(node),
        )  # fmt: skip

    return make(loop, make_parts, wall_ms=wall_ms, log=log, on_end=on_end, clock=clock)
