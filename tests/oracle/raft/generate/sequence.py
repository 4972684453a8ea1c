"""One sequence: a replica with its directory, and then commands by state and weight."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from raft.state.roles import Candidate, Follower, Leader, Prospective
from tests.oracle.raft.commands import Append, Pass, Resign, Restart, Snapshot, Start, Upgrade
from tests.oracle.raft.generate.changes import join
from tests.oracle.raft.generate.requests import any_request
from tests.oracle.raft.generate.responses import fail, respond
from tests.oracle.raft.generate.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.raft.commands import Command
    from tests.oracle.raft.ours import Ours

LENGTH = 120
VOTERS = ((1,), (1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2, 3, 4, 5), (1, 2))
# Settings that are not the usual ones in some sequences.
SETTINGS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("append_linger_ms", (5, 25)), ("fetch_snapshot_bytes_max", (2_000_000,)), ("retention_bytes_max", (300, 1000)),
    ("election_timeout_ms", (100, 3000)), ("fetch_timeout_ms", (500, 5000)), ("retry_backoff_ms", (1, 500)),
    ("auto_join", (1,)), ("has_controller_role", (0,)),
    ("request_timeout_ms", (300, 4000)), ("fetch_wait_max_ms", (0, 100)), ("election_backoff_max_ms", (100, 5000)),
)  # fmt: skip
WAITS = (1, 5, 20, 21, 50, 100, 300, 500, 999, 1000, 1500, 2000, 3001)


def start_of(rng: Random) -> Start:
    """A voter mostly, else an observer; its directory is empty, or holds a log, a snapshot and an election."""
    voters = rng.choice(VOTERS)
    replica_id = 9 if rng.random() < 0.15 else 1
    log: list[tuple[int, int]] = []
    epoch = 0
    snapshot = None
    if rng.random() < 0.2:
        epoch = rng.randint(1, 4)
        snapshot = (rng.randint(1, 9), epoch)
    if rng.random() < 0.6:
        for _ in range(rng.randint(1, 6)):
            epoch += rng.choice((0, 0, 1, 2)) if epoch else 1
            log.append((epoch, rng.randint(1, 4)))
    election = None
    if epoch or rng.random() < 0.3:
        leader_id = rng.choice((-1, -1, *voters))
        voted = rng.choice((-1, *voters)) if leader_id < 0 or rng.random() < 0.2 else -1
        election = (epoch + rng.choice((0, 0, 1, -1 if epoch else 0)), leader_id, voted)
    return Start(
        id=replica_id,
        voters=voters,
        kraft_version=rng.choice((0, 1)),
        log=tuple(log),
        snapshot=snapshot,
        election=election,
        old_directory=rng.random() < 0.08,
        moved=rng.random() < 0.1,
        bootstrap=rng.random() < 0.3,
        config=tuple((name, rng.choice(values)) for name, values in SETTINGS if rng.random() < 0.15),
        seed=rng.randrange(1 << 31),
    )


def commands_of(rng: Random, start: Start, *, calm: bool) -> Callable[[Ours], Iterator[Command]]:
    """The generator of one sequence's commands."""

    def generate(ours: Ours) -> Iterator[Command]:
        world = World(rng, ours, start, calm=calm)
        # A sequence is mostly in a hurry, or mostly patient: that takes it to other states.
        haste = rng.choice((0.3, 1.0, 2.0))
        for _ in range(rng.randint(LENGTH // 3, LENGTH)):
            command = next_command(world, haste)
            if command is not None:
                yield command

    return generate


def next_command(world: World, haste: float) -> Command | None:
    """The next command; responses to sent requests are the most likely."""
    rng, role = world.rng, world.role
    leads = isinstance(role, Leader)
    busy = bool(world.ours.sent)
    is_asking = isinstance(role, (Prospective, Candidate, Follower))
    weights = {
        "respond": (9 if is_asking else 3) if busy else 0,
        "fail": 0.7 if busy else 0,
        "request": 8 if leads else 3,
        "pass": 3 / haste,
        "append": 4 if leads else 0.2,
        "join": 5 if leads else 0,
        "upgrade": 0.5 if leads and not world.ours.replica.kraft_version else 0.03,
        "snapshot": 0.6,
        "resign": 0.15 if leads else 0.03,
        "restart": 0.25,
    }
    match rng.choices(list(weights), list(weights.values()))[0]:
        case "respond":
            return respond(world)
        case "fail":
            return fail(world)
        case "request":
            return any_request(world)
        case "pass":
            # The only voter has time for what is due rarely: the cleaning of the log, observers that are silent.
            alone = leads and len(world.voter_ids) == 1
            return Pass(rng.choice((60_000, 300_000)) if alone and world.maybe(0.1) else rng.choice(WAITS))
        case "append" if isinstance(role, Leader) and role.state.proposals.waiting:
            return Pass(rng.choice(WAITS))  # stock puts into one batch what it is given during one linger
        case "append":
            return Append(rng.randint(1, 3), rng.choice((0,) * 18 + (-1, 1)))
        case "join":
            return join(world)
        case "upgrade":
            return Upgrade(rng.choice((0,) * 9 + (-1, 1)))
        case "snapshot":
            return Snapshot(rng.choice((0, 0, 1, 2)))
        case "resign":
            return Resign()
    return Restart(rng.random() < 0.5)


def sequence(seed: int, *, calm: bool | None = None) -> tuple[Start, Callable[[Ours], Iterator[Command]]]:
    """The start and the commands of the sequence of a seed. calm: little that stops stock; in most sequences."""
    rng = Random(seed)
    start = start_of(rng)
    is_calm = rng.random() < 0.85
    return start, commands_of(rng, start, calm=is_calm if calm is None else calm)
