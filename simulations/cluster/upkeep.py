"""Actions of operators on a cluster: upgrades, replacing failed disks, cordoning directories, starting a second process
of one id; and storms of clients that retry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.faults import processes
from simulations.faults.table import pick
from simulations.faults.targets import find
from simulations.histories.controller_requests import answer_of, request_of
from simulations.histories.operations import UNKNOWN
from simulations.nodes.client import Client
from simulations.world.releases import NEWEST, RELEASES, levels_of
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.cluster.clients.brokers import BrokerMachine
    from simulations.cluster.world import ClusterWorld
    from simulations.plans.cluster_plan import ClusterPlan
    from simulations.world.process import Process

    Args = dict[str, Any]

# Machines of the clients of a storm.
STORM_ID = 301
STORM_TIMEOUT_MS = 1200
ORDER = list(RELEASES)


def disk_fails(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A directory of a broker fails; after a while its disk is replaced, and the broker restarted.

    `broker` and `directory` say which. With `moving` it is one whose failure ends a move, if there is any. With `both`
    the next one fails too, so that one heartbeat tells of both.
    """
    machine = run.brokers[args["broker"] % len(run.brokers)]
    directory = machine.directories[args["directory"] % len(machine.directories)]
    if args.get("moving"):
        machine, directory = _place_that_ends_a_move(run) or (machine, directory)
    if directory in machine.offline or machine.current is None:
        return False
    machine.fail(directory)
    if args.get("both"):
        machine.fail(machine.directories[(args["directory"] + 1) % len(machine.directories)])
    run.later(args["down_ms"], machine.repair)
    return True


def _place_that_ends_a_move(run: ClusterWorld) -> tuple[BrokerMachine, bytes] | None:
    """A directory of a follower of a partition that moves and has all new replicas in sync, after an election: with the
    next change of the partition the move ends.
    """
    machines = {machine.id: machine for machine in run.brokers if machine.current is not None}
    for partition in run.watch.log_rules.image.partitions.values():
        left = set(partition.isr) - set(partition.removing)
        if (partition.adding or partition.removing) and left and left.issuperset(partition.adding):
            for follower in partition.replicas:
                machine, directory = machines.get(follower), partition.directory_of(follower)
                if machine and follower != partition.leader and directory in machine.directories:
                    return machine, directory
    return None


def move_disk(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A broker's last disk is moved to the next broker: both restart, and a directory is on another broker then."""
    one = run.brokers[args["broker"] % len(run.brokers)]
    other = run.brokers[(args["broker"] + 1) % len(run.brokers)]
    if one is other or len(one.directories) < 2 or one.offline or other.offline:
        return False
    for machine in (one, other):
        machine.crash()
        run.later(args["down_ms"], machine.start)
    other.directories.append(one.directories.pop())
    return True


def cordon(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """Directories of a broker take no new replicas, for a while (KIP-1066)."""
    machine = run.brokers[args["broker"] % len(run.brokers)]
    machine.cordoned = tuple(machine.directories[: args["count"]])
    run.later(args["for_ms"], setattr, machine, "cordoned", ())
    return True


def upgrade_broker(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A broker is stopped, and restarted with another release that supports the finalized levels."""
    machine = run.brokers[args["broker"] % len(run.brokers)]
    if machine.current is None or not _may_run(run, machine.release, args["release"]):
        return False
    machine.release = args["release"]
    run.network.uses_codec = True
    machine.leave(args["down_ms"])
    return True


def upgrade_controller(run: ClusterWorld, args: Args, struck: Process | None) -> bool:
    """A controller is stopped, and restarted with another release that supports the finalized levels."""
    node = find(run, args["whom"], struck)
    if node is None or not _may_run(run, node.release, args["release"]):
        return False
    return processes.release(run, args, struck)


def _may_run(run: ClusterWorld, now: str, wanted: str) -> bool:
    """Whether a node may get this release: an older one if no level can be raised in the meantime."""
    if now == wanted:
        return False
    if ORDER.index(wanted) < ORDER.index(now):
        known = levels_of(wanted)
        fits = all(
            known.get(name, (0, 0))[0] <= level <= known.get(name, (0, 0))[1]
            for name, level in run.watch.log_rules.image.features.items()
        )
        return fits and "set_feature" not in run.plan.operations
    return True


def double(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """Two processes of one broker id run at once, until an operator ends one."""
    machine = run.brokers[args["broker"] % len(run.brokers)]
    if machine.current is None:
        return False
    run.later(args["for_ms"], machine.end_second, machine.double())
    return True


def storm(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """Many clients send one request at once, to any controller they find, and again when they are refused."""
    for number in range(args["clients"]):
        rng = run.stream("storm", args["number"], number)
        name = f"storm-{run.world.now}-{number}"
        client = Client(run.world, run.network, rng, STORM_ID + number, run.plan.voter_ids)
        _ask(run, client, name, ("create", f"topic-{args['topic'] % run.plan.topics}", 1, ()), args["tries"])
    return True


def _ask(run: ClusterWorld, client: Client, name: str, asked: tuple[Any, ...], tries: int) -> None:
    operation = run.recorder.ask(name, asked)

    def on_done(response: Any) -> None:
        answer = UNKNOWN if response is None else answer_of(asked, response)
        if answer is not UNKNOWN:
            run.recorder.answer(operation, answer)
        elif tries:
            client.look_elsewhere()
            _ask(run, client, name, asked, tries - 1)

    client.ask(request_of(asked, STORM_TIMEOUT_MS), on_done, STORM_TIMEOUT_MS)


def one_broker(rng: Random, plan: ClusterPlan) -> Args:
    """The broker at this position among them."""
    return {"broker": int(rng.random() * plan.brokers)}


def _span(rng: Random, plan: ClusterPlan) -> int:
    return plan.session_ms * pick(rng, (10, 60, 150, 300)) // 100


def _release(rng: Random, plan: ClusterPlan) -> str:
    """An older release now and then, if it is possible at all."""
    return NEWEST if rng.random() < 0.7 or plan.metadata_version > OLD_MAX else pick(rng, OLD)


# The software of controllers that are not the newest; 4.0 supports metadata.version up to 25.
OLD = ("4.0", "4.1", "4.2")
OLD_MAX = 25

DRAW: dict[str, Callable[[Random, ClusterPlan], Args]] = {
    "broker_disk": lambda rng, plan: {
        **one_broker(rng, plan), "directory": int(rng.random() * plan.directories), "down_ms": _span(rng, plan),
    },
    "broker_disk_moves": lambda rng, plan: {**one_broker(rng, plan), "down_ms": _span(rng, plan)},
    "broker_cordon": lambda rng, plan: {
        **one_broker(rng, plan), "count": between(rng, 1, plan.directories), "for_ms": _span(rng, plan),
    },
    "broker_release": lambda rng, plan: {
        **one_broker(rng, plan), "release": _release(rng, plan), "down_ms": between(rng, 5, 300),
    },
    "controller_release": lambda rng, plan: {
        "whom": pick(rng, plan.voter_ids), "release": _release(rng, plan), "down_ms": between(rng, 5, 300),
    },
    "broker_twin": lambda rng, plan: {**one_broker(rng, plan), "for_ms": _span(rng, plan)},
    "storm": lambda rng, _plan: {
        "clients": pick(rng, (4, 8, 16)), "topic": int(rng.random() * 6), "tries": pick(rng, (1, 3)),
        "number": int(rng.random() * 1_000_000),
    },
}  # fmt: skip

KINDS: dict[str, Callable[[Any, Args, Process | None], bool]] = {
    "broker_disk": disk_fails,
    "broker_disk_moves": move_disk,
    "broker_cordon": cordon,
    "broker_release": upgrade_broker,
    "controller_release": upgrade_controller,
    "broker_twin": double,
    "storm": storm,
}
