"""Controllers with empty disks make one quorum, in whatever order they ask, decide, crash and lose disks."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from raft.formation import rules
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
    decide,
)
from tests.raft.formation.explored import COUNT, MAJORITY, Broken, Slot, World, explore, lost, settle, votes, walk

if TYPE_CHECKING:
    from raft.formation.rules import Answer, Decision
    from tests.raft.formation.explored import Decide

ONE, TWO, THREE = (InitialController(number, bytes([number]) * 16, f"c{number}", 9093) for number in (1, 2, 3))
ALL = (ONE, TWO, THREE)


def has(controller: InitialController, saved: tuple[InitialController, ...] = (), **fields: object) -> Unformatted:
    return Unformatted(controller, saved, 3)._replace(**fields)


def answers_of(*states: Answer) -> dict[str, Answer]:
    return {f"c{number}:9093": state for number, state in enumerate(states, 1)}


def test_no_order_of_steps_gives_two_quorums_and_each_gives_one() -> None:
    worlds = explore(decide, World((Slot(),) * COUNT, 0))

    assert len(worlds) > 3000
    assert any(world.existed for world in worlds)
    for world in worlds:
        settled = settle(world, decide)
        assert isinstance(settled, World), settled
        assert len({slot.formed for slot in settled.slots}) == 1


@pytest.mark.parametrize("given", ["", "given"])
@pytest.mark.parametrize("losses", [1, 2, 3])
def test_lost_disks_and_new_addresses_do_not_give_two_quorums(losses: int, given: str) -> None:
    rng = Random(losses)
    reasons = set()
    for _ in range(1000):
        settled = settle(walk(rng, decide, losses, 3, given, may_grow=True), decide)
        if isinstance(settled, str):
            reasons.add(settled)
        elif losses == 1 and not given:
            # A majority of the voters can elect a leader: one lost disk never ends a quorum.
            (formed,) = {slot.formed for slot in settled.slots}
            assert sum(votes(formed or (), number, slot) for number, slot in enumerate(settled.slots)) >= MAJORITY

    # One lost disk never needs an operator, if the cluster id is not given.
    assert bool(reasons) == (losses > 1 or bool(given))


def forms_early(own: Unformatted, answers: dict[str, Answer]) -> Decision:
    """Form as soon as this controller has saved the initial controllers."""
    decision = decide(own, answers)
    return Form(cluster_id_of(own.saved), own.saved) if own.saved and type(decision) is Wait else decision


def forgets(own: Unformatted, answers: dict[str, Answer]) -> Decision:
    """Save other initial controllers though a majority of the saved ones is lost."""
    decision = decide(own, answers)
    return decide(own._replace(saved=(), former=()), answers) if type(decision) is Wait and own.saved else decision


def controller_of(own: Unformatted, node_id: int) -> InitialController:
    known = {each.node_id: each for each in own.saved}
    return known.get(node_id, own.controller._replace(node_id=node_id, directory_id=bytes([node_id, 99]) * 8))


def ignores(own: Unformatted, answers: dict[str, Answer]) -> Decision:
    """Take a formatted controller for one that has an empty disk."""
    empty = {
        address: Unformatted(controller_of(own, int(address[1])), own.saved, 3)
        if isinstance(answer, Formatted) else answer
        for address, answer in answers.items()
    }  # fmt: skip
    return decide(own, empty)


def hurries(own: Unformatted, answers: dict[str, Answer]) -> Decision:
    """Save the initial controllers before it has listened."""
    return decide(own._replace(is_listening=False), answers)


# Each with a seed that shows it soon.
@pytest.mark.parametrize(
    ("fault", "seed"),
    [(forms_early, 6), (forgets, 6), (ignores, 1)],
    ids=["early", "forgets", "ignores"],
)
def test_a_broken_rule_is_noticed(fault: Decide, seed: int) -> None:
    rng = Random(seed)

    def walk_often() -> None:
        for _ in range(20_000):
            walk(rng, fault, 3, moves=4)

    with pytest.raises(Broken):
        walk_often()


def test_a_quorum_that_has_grown_is_not_formed_again_by_three_empty_disks() -> None:
    worlds = explore(decide, lost())

    assert len(worlds) > 100
    assert {slot.formed for world in worlds for slot in world.slots} == {None}
    assert all("a quorum of the cluster given exists" in str(settle(world, decide)) for world in worlds)


@pytest.mark.parametrize(("fault", "is_deaf"), [(decide, True), (hurries, False)], ids=["deaf", "hurries"])
def test_a_second_quorum_without_the_rule_is_noticed(fault: Decide, *, is_deaf: bool) -> None:
    with pytest.raises(Broken):
        explore(fault, lost(is_deaf=is_deaf))


def test_what_all_three_saved_is_formed() -> None:
    assert decide(has(ONE), answers_of(has(ONE), has(TWO), has(THREE))) == Save(ALL)
    assert decide(has(ONE, ALL), answers_of(has(ONE, ALL), has(TWO, ALL), has(THREE))) == Wait(
        "controllers 3 have not saved the initial controllers yet"
    )
    formed = decide(has(ONE, ALL), answers_of(*(has(each, ALL) for each in ALL)))
    assert formed == Form(cluster_id_of(ALL), ALL)


SIGN = Sign("given", False, "node 4 has its metadata, and asks for a vote")


def test_a_quorum_that_asks_is_not_formed_again() -> None:
    asked = [has(each, ALL, cluster_id="given", sign=SIGN) for each in ALL]

    decision = decide(asked[0], answers_of(*asked))

    assert isinstance(decision, Wait)
    assert decision.reason.startswith("a quorum of the cluster given exists: node 4 has its metadata, and asks for a")
    # The others, which nobody asked, miss its answer.
    silent = Silent("it has a request of a quorum that exists, and its log says of which")
    decision = decide(has(TWO, ALL), answers_of(silent, has(TWO, ALL), has(THREE, ALL)))
    assert isinstance(decision, Wait)
    assert decision.reason.endswith(silent.reason)


def test_a_request_that_says_to_be_of_a_leader_makes_no_controller_join() -> None:
    leads = SIGN._replace(leads=True)

    for own in (has(ONE, cluster_id="given", sign=leads), has(ONE, sign=leads)):
        decision = decide(own, answers_of(has(ONE), has(TWO), has(THREE)))

        assert isinstance(decision, Wait)
        # The quorum is whole: an operator has this controller join it.
        assert "with that cluster id to join (kafka-storage format --no-initial-controllers)" in decision.reason
        assert "kraftctl recover" not in decision.reason


def test_of_a_cluster_id_that_anybody_may_tell_the_reason_has_only_the_beginning() -> None:
    for leads in (False, True):
        decision = decide(has(ONE, sign=SIGN._replace(cluster_id="x" * 30_000, leads=leads)), answers_of(has(ONE)))

        assert isinstance(decision, Wait)
        assert len(decision.reason) < 600


def test_what_the_bootstrap_servers_say_goes_before_a_request() -> None:
    assert decide(has(ONE, sign=SIGN), answers_of(has(ONE), Formatted("given"))) == Join("given")


def test_nothing_is_saved_before_it_has_listened() -> None:
    decision = decide(has(ONE, is_listening=True), answers_of(has(ONE), has(TWO), has(THREE)))

    assert decision == Wait("it listens for requests of a quorum that exists, before it saves the initial controllers")


def test_a_quorum_that_exists_is_joined() -> None:
    assert decide(has(ONE), answers_of(has(ONE), Formatted("q"), Silent("refused"))) == Join("q")


def test_a_controller_that_others_expect_is_a_voter_of_the_quorum_that_they_formed() -> None:
    formed = Formatted(cluster_id_of(ALL))

    assert decide(has(ONE, ALL), answers_of(has(ONE, ALL), formed)) == Form(cluster_id_of(ALL), ALL)
    assert decide(has(ONE, (ONE, TWO)), answers_of(has(ONE), formed)) == Join(cluster_id_of(ALL))


def test_a_given_cluster_id_is_used_and_no_other_is_joined() -> None:
    given = [has(each, ALL, cluster_id="given") for each in ALL]

    assert decide(given[0], answers_of(*given)) == Form("given", ALL)
    # The id does not say whether those that it has saved have become the quorum.
    assert decide(given[0], answers_of(given[0], Formatted("given"))) == Join("given")
    assert decide(given[0], answers_of(given[0], Formatted("q"))) == Wait(
        "c2:9093 belongs to the cluster q, and kraft.quorum.bootstrap.cluster.id is given"
    )


def test_a_new_address_is_saved() -> None:
    moved = TWO._replace(host="elsewhere")

    decision = decide(has(ONE, ALL), answers_of(has(ONE, ALL), has(moved, ALL), has(THREE, ALL)))
    assert decision == Save((ONE, moved, THREE))
    # By a given cluster id nobody could tell which of both became the quorum.
    states = [has(each, ALL, cluster_id="given") for each in (ONE, moved, THREE)]
    decision = decide(states[0], answers_of(*states))
    assert isinstance(decision, Wait)
    assert decision.reason.startswith("other initial controllers are saved than those that are there now. If no quorum")


WAITS = [
    (answers_of(has(ONE), has(TWO), Silent("Connection refused")),
     "2 of 3 controllers are there (1, 2); c3:9093: Connection refused"),
    (answers_of(has(ONE), has(TWO), has(THREE), has(THREE._replace(node_id=4, directory_id=b"4" * 16))),
     ("4 controllers with empty disks are there (1, 2, 3, 4), and kraft.quorum.bootstrap.expect is 3: stop those that "
      "are to join later")),
    (answers_of(has(ONE), has(TWO), has(THREE._replace(directory_id=TWO.directory_id))),
     "controllers 2 and 3 have the same directory id: one disk is a copy of the other"),
    (answers_of(has(ONE), has(TWO), has(TWO._replace(directory_id=b"x" * 16))),
     "two controllers have node.id=2, one of them at c3:9093"),
    (answers_of(has(TWO), has(THREE)), "none of the bootstrap servers is this controller (node.id=1)"),
    (answers_of(has(ONE._replace(directory_id=b"x" * 16)), has(TWO), has(THREE)),
     "another controller has node.id=1, too"),
    (answers_of(has(ONE), has(TWO, expect=5), has(THREE)),
     "controller 2 expects 5 controllers and the cluster id (any), and this one 3 and (any)"),
    (answers_of(Formatted("p"), Formatted("q")),
     "the bootstrap servers belong to different clusters: p at c1:9093, q at c2:9093"),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "reason"), WAITS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_missing_is_told(answers: dict[str, Answer], reason: str) -> None:
    assert decide(has(ONE), answers) == Wait(reason)


def test_a_majority_of_empty_disks_needs_an_operator() -> None:
    new = [each._replace(directory_id=bytes([each.node_id + 10]) * 16) for each in (TWO, THREE)]

    decision = decide(has(ONE, ALL), answers_of(has(ONE, ALL), has(new[0]), has(new[1])))
    assert isinstance(decision, Wait)
    assert decision.reason.startswith("the disks of 2, 3 are empty again, a majority")
    assert decide(has(ONE, ALL), answers_of(has(ONE, ALL), has(new[0]), has(THREE, ALL))) == Save((ONE, new[0], THREE))
    # Also where the second is lost later, or the first one's answer was older than its loss.
    second = has(ONE, (ONE, new[0], THREE), former=(ALL,))
    decision = decide(second, answers_of(second, has(new[0]), has(new[1])))
    assert isinstance(decision, Wait)
    assert decision.reason.startswith("the disks of 2, 3 are empty again, a majority")


def test_a_controller_with_another_id_does_not_replace_one_that_is_silent() -> None:
    four = THREE._replace(node_id=4, directory_id=b"4" * 16)

    decision = decide(has(ONE, ALL), answers_of(has(ONE, ALL), has(TWO, ALL), has(four)))
    assert decision == Wait("controllers 3 are among the saved initial controllers, and are not there")


def test_no_cluster_id_looks_like_an_option() -> None:
    ids = {cluster_id_of([ONE._replace(directory_id=number.to_bytes(16, "big"))]) for number in range(300)}

    assert len(ids) == 300
    assert all(len(each) == 22 and not each.startswith("-") for each in ids)
    assert rules.cluster_id_of(reversed(ALL)) == cluster_id_of(ALL)
