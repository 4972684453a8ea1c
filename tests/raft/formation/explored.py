"""All orders of asking, deciding, moving and losing disks, of three controllers that form a quorum.

The quorum may grow: then it has other voters, whose disks are never lost, and which ask the three for votes.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from raft.formation.rules import (
    Form,
    Formatted,
    InitialController,
    Join,
    Save,
    Sign,
    Silent,
    Unformatted,
    Wait,
    cluster_id_of,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from raft.formation.rules import Answer, Decision

    Decide = Callable[[Unformatted, dict[str, Answer]], Decision]

COUNT = 3
MAJORITY = COUNT // 2 + 1
Controllers = tuple[InitialController, ...]


class Slot(NamedTuple):
    """One controller. disk: how many it has lost; host: which of its two it has; saved, former: what it has saved, now
    and before; formed: the
    initial controllers of the quorum that its disk is formatted for, None before; answers: of its round, by controller,
    None outside of one. has_sign: whether another voter has asked it; is_listening: whether one that lives may not have
    asked it yet.
    """

    disk: int = 0
    host: int = 0
    saved: Controllers = ()
    former: tuple[Controllers, ...] = ()
    formed: Controllers | None = None
    answers: tuple[Answer | None, ...] | None = None
    has_sign: bool = False
    is_listening: bool = False


class World(NamedTuple):
    """slots: of the controllers. losses, moves: how many disks may still be lost, and hosts changed. given: the
    cluster id, if it is configured.

    may_grow: whether a quorum that exists may get other voters; grown: the one that has. is_deaf: the requests of
    these are not noticed.
    formed: all initial controllers that any disk was formatted for as a voter; existed: those that a living majority of
    them was formatted for at one time.
    """

    slots: tuple[Slot, ...]
    losses: int
    moves: int = 0
    given: str = ""
    formed: frozenset[Controllers] = frozenset()
    existed: frozenset[Controllers] = frozenset()
    may_grow: bool = False
    grown: Controllers | None = None
    is_deaf: bool = False


class Broken(Exception):
    """Two quorums can exist."""


def controller(number: int, slot: Slot) -> InitialController:
    return InitialController(number, bytes([number, slot.disk]) * 8, f"c{number}-{slot.host}", 9093)


def state_of(world: World, number: int, slot: Slot) -> Answer:
    """What a controller answers now."""
    if slot.formed is not None:
        return Formatted(world.given or cluster_id_of(slot.formed))
    if slot.has_sign:
        return Silent("it has a request of a quorum that exists")
    return told(world, number, slot)


def told(world: World, number: int, slot: Slot) -> Unformatted:
    """What a controller tells of itself."""
    return unformatted(world, number, slot)._replace(former=(), sign=None, is_listening=False)


def unformatted(world: World, number: int, slot: Slot) -> Unformatted:
    sign = (
        Sign(world.given or cluster_id_of(world.grown), False, "a voter asks")
        if slot.has_sign and world.grown
        else None
    )
    return Unformatted(
        controller(number, slot), slot.saved, COUNT, world.given, slot.former, sign, slot.is_listening
    )  # fmt: skip


def steps(world: World, decide: Decide) -> Iterator[partial[World]]:
    """The steps that can come next; each gives the world after it, or raises Broken."""
    if world.may_grow and world.grown is None:
        for former in sorted(world.existed):
            if voters_of(former, world.slots) >= MAJORITY:
                yield partial(world._replace, grown=former)
    for number, slot in enumerate(world.slots):
        if world.losses:
            yield partial(_lose, world, number)
        if world.moves and slot.formed is None:
            yield partial(_move, world, number)
        if slot.formed is not None:
            continue
        if slot.is_listening:
            yield partial(_put, world, number, listened(world, slot))
        if world.grown and not (slot.has_sign or slot.is_listening or world.is_deaf):
            yield partial(_ask, world, number)
        if slot.answers is None:
            # Its own state is the same in the whole round.
            own = tuple(told(world, number, slot) if other == number else None for other in range(COUNT))
            yield partial(_put, world, number, slot._replace(answers=own))
            continue
        for other, answer in enumerate(slot.answers):
            if answer is None:
                got = (*slot.answers[:other], state_of(world, other, world.slots[other]), *slot.answers[other + 1 :])
                yield partial(_put, world, number, slot._replace(answers=got))
        if None not in slot.answers:
            yield partial(_decide, world, number, decide)


def listened(world: World, slot: Slot) -> Slot:
    """A controller after its time to listen, in which the other voters have asked it."""
    return slot._replace(is_listening=False, has_sign=slot.has_sign or bool(world.grown and not world.is_deaf))


def _ask(world: World, number: int) -> World:
    """Another voter asks a controller."""
    return _put(world, number, world.slots[number]._replace(has_sign=True))


def _lose(world: World, number: int) -> World:
    """A disk is lost, and its controller begins with an empty one."""
    return _put(world, number, Slot(world.slots[number].disk + 1, is_listening=True))._replace(losses=world.losses - 1)


def _move(world: World, number: int) -> World:
    """A controller restarts at its other host."""
    slot = world.slots[number]
    return _put(
        world,
        number,
        slot._replace(
            host=1 - slot.host,
            answers=None,
            has_sign=False,
            is_listening=True,
        ),
    )._replace(moves=world.moves - 1)


def _decide(world: World, number: int, decide: Decide) -> World:
    slot = world.slots[number]
    answers = {f"c{other}": answer for other, answer in enumerate(slot.answers or ()) if answer is not None}
    decision = decide(unformatted(world, number, slot), answers)
    slot = slot._replace(answers=None)
    if type(decision) is Save:
        former = dict.fromkeys(each for each in (*slot.former, slot.saved) if each and each != decision.controllers)
        return _put(world, number, slot._replace(saved=decision.controllers, former=tuple(former)))
    if type(decision) is Form:
        world = world._replace(formed=world.formed | {decision.controllers})
        return _put(world, number, slot._replace(formed=decision.controllers))
    if type(decision) is Join:
        # The controller that told the cluster id may have lost its disk since.
        known = [*(each.formed for each in world.slots if each.formed), *sorted(world.formed)]
        joined = next(each for each in known if (world.given or cluster_id_of(each)) == decision.cluster_id)
        return _put(world, number, slot._replace(formed=joined))
    return _put(world, number, slot)


def _put(world: World, number: int, slot: Slot) -> World:
    slots = (*world.slots[:number], slot, *world.slots[number + 1 :])
    existing = {formed for formed in world.formed if voters_of(formed, slots) >= MAJORITY}
    existed = world.existed | existing
    for former in existed:
        is_alive = former == world.grown or any(votes(former, number, slot) for number, slot in enumerate(slots))
        if is_alive and any(each not in (None, former) for each in formed_by_voters(slots)):
            raise Broken(f"{former} existed, and another quorum is formed")
    if len(existing) > 1:
        raise Broken("two quorums exist")
    return world._replace(slots=slots, existed=existed)


def formed_by_voters(slots: tuple[Slot, ...]) -> list[Controllers | None]:
    """What each living disk was formatted for, where it is a voter there."""
    return [
        slot.formed if slot.formed and votes(slot.formed, number, slot) else None for number, slot in enumerate(slots)
    ]


def voters_of(formed: Controllers, slots: tuple[Slot, ...]) -> int:
    """How many living disks are formatted for these, and vote among them."""
    return sum(slot.formed == formed and votes(formed, number, slot) for number, slot in enumerate(slots))


def votes(formed: Controllers, number: int, slot: Slot) -> bool:
    """Whether the disk of a controller is one of a voter."""
    return any(each.directory_id == controller(number, slot).directory_id for each in formed)


def lost(*, is_deaf: bool = False) -> World:
    """The three controllers have formed a quorum with a given id, which has grown, and lost their disks."""
    former = tuple(controller(number, Slot()) for number in range(COUNT))
    return World(
        (Slot(1, is_listening=True),) * COUNT, 0, given="given", formed=frozenset((former,)),
        existed=frozenset((former,)), grown=former, is_deaf=is_deaf,
    )  # fmt: skip


def explore(decide: Decide, first: World) -> set[World]:
    """All worlds that can be reached from one. Raises Broken."""
    seen = {first}
    waiting = deque([first])
    while waiting:
        for step in steps(waiting.popleft(), decide):
            world = step()
            if world not in seen:
                seen.add(world)
                waiting.append(world)
    return seen


def walk(rng: Random, decide: Decide, losses: int, moves: int = 0, given: str = "", *, may_grow: bool = False) -> World:
    """The world after 100 random steps, or fewer where none is left. Raises Broken."""
    world = World((Slot(),) * COUNT, losses, moves, given, may_grow=may_grow)
    for _ in range(100):
        choices = list(steps(world, decide))
        # Few faults, so that they also come late.
        faults = [step for step in choices if step.func in (_lose, _move, _ask)]
        others = [step for step in choices if step not in faults]
        if not choices:
            break
        world = rng.choice(faults if faults and (not others or rng.random() < 0.06) else others)()
    return world


def settle(world: World, decide: Decide) -> World | str:
    """The world after fair rounds without losses, or why a controller waits for an operator."""
    reason = ""
    for _ in range(4):
        for number in range(COUNT):
            slot = listened(world, world.slots[number])
            if slot.formed is None:
                world = _put(world, number, slot)
                answers = {f"c{other}": state_of(world, other, each) for other, each in enumerate(world.slots)}
                decision = decide(unformatted(world, number, slot), answers)
                reason = decision.reason if type(decision) is Wait else reason
                full = tuple(answers.values())
                world = _decide(_put(world, number, slot._replace(answers=full)), number, decide)
    return reason if any(slot.formed is None for slot in world.slots) else world
