"""Linearizable histories, and others."""

from __future__ import annotations

from random import Random

from simulations.histories.controller_api import ControllerApi
from simulations.histories.linearizable import check
from simulations.histories.models import REFUSED, Register, Strings
from simulations.histories.operations import UNKNOWN, Operation, Recorder
from simulations.histories.small import by_all_orders, random_history


def operation(client, asked, answer, invoked, returned):
    return Operation(client, asked, answer, invoked, returned)


def test_a_read_may_see_a_concurrent_write_or_the_value_before():
    for seen in (None, 1):
        history = [operation("a", ("write", 1), True, 1, 10), operation("b", ("read",), seen, 2, 9)]

        verdict = check(Register(), history)

        assert verdict.is_ok


def test_a_read_after_a_write_sees_it():
    stale = operation("b", ("read",), None, 3, 4)
    history = [operation("a", ("write", 1), True, 1, 2), stale, operation("a", ("read",), 1, 5, 6)]

    verdict = check(Register(), history)

    assert (verdict.result, verdict.witness, verdict.order, verdict.stuck) == (
        "violation", history[:2], history[:1], [stale],
    )  # fmt: skip


def test_an_unanswered_operation_may_take_effect_late_or_never():
    lost = operation("a", ("write", 1), UNKNOWN, 1, None)
    before = operation("b", ("read",), None, 2, 3)
    after = operation("b", ("read",), 1, 4, 5)

    verdicts = [check(Register(), history).result for history in ([lost, before], [lost, before, after])]

    assert verdicts == ["ok", "ok"]


def test_an_unanswered_operation_takes_effect_once():
    lost = operation("a", ("write", 1), UNKNOWN, 1, None)
    history = [
        lost, operation("b", ("read",), 1, 2, 3), operation("b", ("write", 2), True, 4, 5),
        operation("b", ("read",), 1, 6, 7),
    ]  # fmt: skip

    verdict = check(Register(), history)

    assert verdict.result == "violation"


def test_a_witness_leaves_out_other_keys_later_events_and_unneeded_reads():
    recorder = Recorder()

    def done(asked, answer):
        recorder.answer(recorder.ask("a", asked), answer)

    done(("put", "x", "1"), None)
    done(("put", "y", "1"), None)
    done(("get", "x"), "1")
    done(("get", "x"), "2")
    done(("put", "x", "3"), None)

    verdict = check(Strings(), recorder.operations)

    assert (verdict.key, [each.asked for each in verdict.witness]) == ("x", [("put", "x", "1"), ("get", "x")])
    assert verdict.witness[-1].answer == "2"


def test_a_search_whose_budget_is_spent_is_undecided():
    clients = range(12)
    history = [operation(client, ("write", client), True, 1, 100) for client in clients]
    history.append(operation("reader", ("read",), "nobody wrote this", 101, 102))

    verdict = check(Register(), history, budget=1000)

    assert (verdict.result, verdict.looked_at) == ("unknown", 1000)


def test_equal_unanswered_operations_cost_no_more_than_one():
    history = [operation(client, ("cas", None, 1), UNKNOWN, client, None) for client in range(200)]
    history.append(operation("reader", ("read",), 2, 1000, 1001))

    verdict = check(Register(), history, budget=1000)

    assert verdict.result == "violation"


def test_histories_with_many_unanswered_operations_are_decided():
    """As where a name is written to while its leader is cut off, on a busy machine: two of three are never answered."""
    for seed in range(30):
        verdict = check(ControllerApi(), lost_history(Random(seed)), budget=5000)

        assert verdict.is_ok, f"{seed}: {verdict}"


def lost_history(rng):
    """The answers to 150 requests about one topic, from a server that executes a third of those
    whose answer is lost.
    """
    api, state = ControllerApi(), None
    operations = []
    for moment in range(0, 300, 2):
        asked = rng.choice(
            (
                ("create", "t", rng.randrange(1, 4), (("k", str(moment)),)),
                ("delete", "t", None),
                ("grow", "t", rng.randrange(2, 8)),
                ("configure", "t", (("k", str(moment)),)),
                ("read", "t"),
            )
        )
        if rng.random() < 2 / 3:
            operations.append(operation("a", asked, UNKNOWN, moment, None))
            state = api.step(state, asked, UNKNOWN) if rng.random() < 1 / 3 else state
            continue
        answer = next(
            answer
            for answer in ("ok", ("ok", moment), "exists", "missing", "too few", state.configs if state else None)
            if fits(api, state, asked, answer)
        )
        state = api.step(state, asked, answer)
        operations.append(operation("a", asked, answer, moment, moment + 1))
    return operations


def fits(api, state, asked, answer):
    is_id = asked[0] == "create" and answer == "ok"
    return not is_id and api.step(state, asked, answer) is not REFUSED


def test_the_search_agrees_with_trying_all_orders():
    rng = Random(11)
    found = {True: 0, False: 0}

    for _ in range(6000):
        history = random_history(rng)

        verdict = check(Register(0), history)
        expected = by_all_orders(Register(0), history)

        assert verdict.is_ok == expected, "\n".join(map(str, history))
        found[expected] += 1
        if not expected:
            assert not by_all_orders(Register(0), verdict.witness)
    assert min(found.values()) > 1000
