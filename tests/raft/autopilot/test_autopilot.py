"""The autopilot of one leader, from look to look."""

from __future__ import annotations

from raft.autopilot.report import Health, Kind
from tests.raft.autopilot.quorum import RULES, Quorum, key

HEALS = RULES._replace(dead_after_ms=30_000)


def test_two_observers_become_voters_one_after_the_other_once_level_for_the_stabilization_time() -> None:
    quorum = Quorum(voters=3, observers=2)

    quorum.run(4)
    before = list(quorum.steps)
    report = quorum.run(30)

    assert before == []
    assert quorum.steps == [(5000, Kind.ADD, key(4)), (6000, Kind.ADD, key(5))]
    assert report.step is None
    assert report.is_healthy


def test_a_voter_that_was_removed_must_be_level_anew_before_it_is_added_again() -> None:
    quorum = Quorum(voters=5)

    quorum.run(20)
    quorum.voters.remove(key(5))
    quorum.observers.append(key(5))
    quorum.run(20)

    assert quorum.steps == [(25_000, Kind.ADD, key(5))]


def test_a_voter_that_leaves_before_the_look_after_its_addition_must_be_level_anew() -> None:
    quorum = Quorum(voters=3, observers=2)

    quorum.run(6)
    quorum.voters.remove(key(5))
    quorum.observers.append(key(5))
    quorum.run(20)

    assert quorum.steps == [(5000, Kind.ADD, key(4)), (6000, Kind.ADD, key(5)), (11_000, Kind.ADD, key(5))]


def test_a_directory_that_an_observer_has_just_lost_becomes_no_voter() -> None:
    """The leader sees it fetch until a moment ago, and another directory of its id fetch now."""
    quorum = Quorum(voters=3, observers=2)

    quorum.run(4)
    quorum.replace_disk(5)
    report = quorum.run(1)
    quorum.run(10)

    assert next(node.reason for node in report.nodes if node.key.id == 5) == "it fetches with another directory too"
    assert quorum.steps == [(9000, Kind.ADD, key(4)), (10_000, Kind.ADD, key(5, 2))]


def test_an_observer_that_lags_or_is_silent_in_between_waits_anew() -> None:
    quorum = Quorum(voters=3, observers=2)

    quorum.run(2)
    quorum.down, quorum.lagging = {key(4)}, {key(5)}
    quorum.run(4)
    quorum.down = quorum.lagging = set()
    quorum.run(7)

    assert quorum.steps == [(11_000, Kind.ADD, key(4)), (12_000, Kind.ADD, key(5))]


def test_nothing_is_done_while_paused_switched_off_or_while_another_change_is_under_way() -> None:
    paused, off, busy = Quorum(3, 2), Quorum(3, 2, RULES._replace(enabled=False)), Quorum(3, 2)
    paused.is_paused, busy.refusal = True, "a change is under way"

    reports = [quorum.run(20) for quorum in (paused, off, busy)]

    assert [quorum.steps for quorum in (paused, off, busy)] == [[], [], []]
    assert [report.held_by for report in reports] == [
        ("it is paused: kraftctl autopilot resume ends that",),
        ("kraft.autopilot.enable is false on the active controller",),
        ("a change is under way",),
    ]
    paused.is_paused = False
    paused.run(2)
    assert paused.kinds == [("add", 4), ("add", 5)]


def test_a_node_that_is_back_with_another_directory_takes_its_place_without_dead_after() -> None:
    quorum = Quorum(voters=3)

    quorum.run(10)
    quorum.replace_disk(2)
    quorum.run(30)

    assert [(kind, each) for _, kind, each in quorum.steps] == [(Kind.REMOVE, key(2)), (Kind.ADD, key(2, 2))]
    assert key(2, 2) in quorum.voters


def test_the_node_gets_its_place_back_also_in_an_even_voter_set() -> None:
    quorum = Quorum(voters=4)

    quorum.run(10)
    quorum.replace_disk(4)
    quorum.run(30)

    assert quorum.kinds == [("remove", 4), ("add", 4)]
    assert len(quorum.voters) == 4


def test_a_node_that_runs_twice_keeps_its_voter_and_is_named() -> None:
    quorum = Quorum(voters=3)
    quorum.observers.append(key(2, 2))

    report = quorum.run(30)

    assert quorum.steps == []
    assert report.held_by == ("node 2 runs twice, with two directories: stop one of the two",)


def test_a_voter_is_dead_after_its_time_and_a_spare_takes_its_place() -> None:
    quorum = Quorum(voters=3, observers=1, rules=HEALS)

    quorum.run(10)
    quorum.down = {key(3)}
    silent = quorum.run(28)
    quorum.run(10)

    health = {node.key.id: (node.health, node.since_ms) for node in silent.nodes}
    assert health[3] == (Health.SILENT, 10_000)
    assert [(kind.value, each.id) for _, kind, each in quorum.steps] == [("remove", 3), ("add", 4)]
    assert quorum.steps[0][0] == 40_000


def test_without_a_spare_a_dead_voter_is_removed_only_where_three_others_are_healthy() -> None:
    small, large = Quorum(voters=3, rules=HEALS), Quorum(voters=5, rules=HEALS)
    for quorum in (small, large):
        quorum.run(10)
        quorum.down = {key(3)}
    report = small.run(60)
    large.run(60)

    assert small.steps == []
    assert report.held_by == ("voter 3 is dead: no spare is ready, and fewer than 3 other voters are healthy",)
    assert large.kinds == [("remove", 3)]


def test_by_default_no_voter_is_ever_dead() -> None:
    quorum = Quorum(voters=5, observers=1)

    quorum.run(10)
    quorum.down = {key(3)}
    report = quorum.run(3600)

    assert quorum.steps == []
    assert {node.health for node in report.nodes} == {Health.HEALTHY, Health.SILENT}


def test_no_voter_is_removed_without_a_majority_of_healthy_voters_before_and_after() -> None:
    quorum = Quorum(voters=5, observers=1, rules=HEALS)

    quorum.run(10)
    quorum.down, quorum.lagging = {key(3), key(4)}, {key(5)}
    report = quorum.run(60)

    assert quorum.steps == []
    refused = tuple(f"voter {each} is dead: a majority of the voters must be healthy" for each in (3, 4))
    assert report.held_by[:2] == refused


def test_one_dead_voter_after_the_other_is_removed_while_three_others_are_left() -> None:
    quorum = Quorum(voters=5, rules=HEALS)

    quorum.run(10)
    quorum.down = {key(4), key(5)}
    quorum.run(120)

    assert quorum.kinds == [("remove", 4), ("remove", 5)]
    assert quorum.steps[1][0] > quorum.steps[0][0]


def test_a_node_that_dies_again_and_again_is_added_again_ever_later() -> None:
    quorum = Quorum(voters=4, observers=1, rules=HEALS)
    quorum.run(10)
    waits = []
    for _ in range(10):
        quorum.down = {key(4)}
        quorum.run(40)
        back_ms, quorum.down = quorum.now_ms, set()
        quorum.run(1300)
        waits.append(next(time_ms for time_ms, kind, each in quorum.steps[::-1] if each == key(4)) - back_ms)

    assert quorum.kinds[:4] == [("add", 5), ("remove", 4), ("add", 4), ("remove", 4)]
    assert waits == [5000 * each for each in (2, 4, 8, 16, 32, 64, 128, 256, 256, 256)]


def test_a_leader_that_was_stopped_for_an_hour_takes_nobody_for_dead() -> None:
    quorum = Quorum(voters=5, rules=HEALS)

    quorum.run(10)
    quorum.now_ms += 3_600_000
    fetched_ms = dict(quorum.fetched_ms)
    quorum.down = {each for each in quorum.voters if each.id > 1}
    report = quorum.look()
    quorum.run(29)

    assert fetched_ms[key(2)] == 10_000
    assert {node.health for node in report.nodes if node.key.id > 1} == {Health.SILENT}
    assert quorum.steps == []


def test_a_step_that_fails_is_held_back_for_ever_longer_and_another_node_has_its_turn() -> None:
    quorum = Quorum(voters=3, observers=3)
    quorum.fails = True

    quorum.run(45)
    quorum.fails = False
    quorum.run(20)

    assert [now_ms // 1000 for now_ms, node_id in quorum.asked if node_id == 4] == [5, 6, 8, 12, 20, 30, 40, 50]
    assert [node_id for now_ms, node_id in quorum.asked if now_ms < 9000] == [4, 4, 5, 4]
    assert quorum.kinds == [("add", 4), ("add", 6)]


def test_after_a_success_a_step_is_held_back_as_at_first() -> None:
    quorum = Quorum(voters=3, observers=2)
    quorum.fails = True
    quorum.run(30)
    quorum.fails = False
    quorum.run(30)
    assert quorum.kinds == [("add", 4), ("add", 5)]

    quorum.replace_disk(5)
    quorum.fails = True
    begin_ms = quorum.now_ms
    quorum.run(9)

    times = [(now_ms - begin_ms) // 1000 for now_ms, node_id in quorum.asked if now_ms > begin_ms and node_id == 5]
    assert times == [5, 6, 8]


def test_a_registration_without_a_node_goes_only_where_voters_may_be_dead() -> None:
    heals, grows = Quorum(voters=3, rules=HEALS), Quorum(voters=3)
    for quorum in (heals, grows):
        quorum.registered.add(9)
        quorum.can_unregister = True

        quorum.run(60)

    assert heals.steps == [(30_000, Kind.UNREGISTER, key(9)._replace(directory_id=bytes(16)))]
    assert grows.steps == []


def test_a_registered_voter_that_is_silent_keeps_its_registration() -> None:
    quorum = Quorum(voters=3, rules=HEALS)
    quorum.can_unregister = True

    quorum.run(10)
    quorum.down = {key(3)}
    quorum.run(120)

    assert quorum.steps == []


def test_a_voter_that_only_lags_keeps_its_place() -> None:
    quorum = Quorum(voters=3)
    quorum.observers.append(key(2, 2))
    quorum.lagging = {key(2)}

    report = quorum.run(30)

    assert quorum.steps == []
    assert report.held_by == ("node 2 runs twice, with two directories: stop one of the two",)


def test_a_new_directory_must_be_level_and_a_majority_healthy_before_the_former_one_goes() -> None:
    level, small = Quorum(voters=3), Quorum(voters=3)
    for quorum in (level, small):
        quorum.run(10)
        quorum.replace_disk(2)
    small.lagging = {key(3)}

    early, late = level.run(4), small.run(30)

    assert (level.steps, small.steps) == ([], [])
    assert "it must stay level for" in early.held_by[0]
    assert "without a majority of healthy voters its former self stays" in late.held_by[0]


def test_a_leader_whose_disk_lacks_what_it_wrote_is_no_healthy_voter() -> None:
    quorum = Quorum(3)
    quorum.run(20)
    quorum.replace_disk(2)

    quorum.log_end = 10
    slow = quorum.run(20)
    quorum.durable_end = 10
    quorum.run(20)

    leader = next(node for node in slow.nodes if node.key == key(1))
    assert (leader.health, leader.reason) == (
        Health.LAGGING, "it leads, and its disk lacks records that it has written",
    )  # fmt: skip
    assert [reason.partition(": ")[2] for reason in slow.held_by] == [
        "without a majority of healthy voters its former self stays"
    ]
    assert quorum.kinds == [("remove", 2), ("add", 2)]


def test_a_leader_whose_disk_is_a_moment_behind_its_log_is_a_healthy_voter() -> None:
    quorum = Quorum(3)

    for _ in range(20):
        quorum.durable_end, quorum.log_end = quorum.log_end, quorum.log_end + 10
        report = quorum.run(1)

    assert [node.health for node in report.nodes] == [Health.HEALTHY] * 3


def test_a_leader_that_was_stopped_for_an_hour_counts_levels_and_ghosts_anew() -> None:
    grows, heals = Quorum(voters=3, observers=2), Quorum(voters=3, rules=HEALS)
    heals.registered.add(9)
    heals.can_unregister = True
    for quorum in (grows, heals):
        quorum.run(3)
        quorum.now_ms += 3_600_000
        quorum.run(4)

    assert (grows.steps, heals.steps) == ([], [])
    grows.run(2)
    heals.run(28)
    assert (grows.kinds, heals.kinds) == ([("add", 4), ("add", 5)], [("unregister", 9)])


def test_a_place_that_was_filled_by_hand_is_not_owed_any_more() -> None:
    quorum = Quorum(voters=3)
    quorum.run(10)
    quorum.replace_disk(2)
    while key(2) in quorum.voters:
        quorum.run(0)
        quorum.now_ms += 1000
    removed = list(quorum.kinds)
    quorum.voters.append(key(9))  # by hand

    quorum.run(60)

    assert removed == [("remove", 2)]
    assert quorum.kinds == removed


def test_a_node_that_got_its_place_back_is_not_owed_another() -> None:
    quorum = Quorum(voters=4, rules=RULES._replace(voters_max=3))
    quorum.run(10)
    quorum.replace_disk(4)
    while key(4) in quorum.voters:
        quorum.run(0)
        quorum.now_ms += 1000
    quorum.voters.remove(key(3))  # by hand
    quorum.run(10)
    back = list(quorum.voters)
    quorum.voters[quorum.voters.index(key(4, 2))] = key(9)  # by hand
    quorum.observers.append(key(4, 2))

    quorum.run(60)

    assert back == [key(1), key(2), key(4, 2)]
    assert quorum.voters == [key(1), key(2), key(9)]


def test_a_leader_that_is_no_voter_does_nothing() -> None:
    quorum = Quorum(voters=3, observers=2)
    quorum.run(4)
    quorum.now_ms += 3000

    report = quorum.autopilot.look(quorum.view()._replace(leader=key(8)))

    assert report.step is None
    assert report.held_by == ("the active controller is no voter any more",)


def test_an_observer_is_silent_and_never_dead() -> None:
    quorum = Quorum(voters=3, observers=1, rules=HEALS)
    quorum.run(3)
    quorum.down = {key(4)}

    report = quorum.run(60)

    assert [node.health for node in report.nodes if node.key == key(4)] == [Health.SILENT]


def test_a_voter_has_the_time_to_find_a_new_leader_however_short_its_time_to_be_dead() -> None:
    quorum = Quorum(voters=5, rules=RULES._replace(dead_after_ms=500))
    quorum.down = {key(5)}

    report = quorum.run(1)
    before = list(quorum.steps)
    quorum.run(2)

    assert [node.health for node in report.nodes if node.key == key(5)] == [Health.SILENT]
    assert before == []
    assert quorum.kinds == [("remove", 5)]


def test_a_removal_that_failed_is_no_death() -> None:
    quorum = Quorum(voters=4, observers=1, rules=HEALS)
    quorum.run(10)
    quorum.down, quorum.fails = {key(4)}, True
    quorum.run(90)
    quorum.fails = False
    quorum.run(20)
    back_ms, quorum.down = quorum.now_ms, set()

    quorum.run(60)

    assert quorum.kinds == [("add", 5), ("remove", 4), ("add", 4)]
    assert quorum.steps[-1][0] - back_ms == 2 * RULES.stabilization_ms
