"""Responses that wait for a commit or for confirmed leadership."""

from hypothesis import given
from hypothesis import strategies as st

from controller.core.waiting import Waiting
from controller.interface.inputs import RequestContext, Written
from raft.interface.inputs import Source


def waiting():
    answers = []
    return Waiting(lambda context, response: answers.append(response)), answers


def context(connection=1):
    return RequestContext(Source(connection, 0), 0, 0, "CONTROLLER")


def add(waiting, name, offset, *, confirm=False, connection=1, written=None):
    asked = context(connection)
    asked.written = written
    waiting.add(asked, f"request {name}", name, offset, confirm=confirm)


def test_responses_are_sent_when_their_offsets_are_committed():
    w, answers = waiting()
    w.on_committed(10)
    for name, offset in (("c", 12), ("a", 9), ("b", 10), ("d", 12), ("e", -1)):
        add(w, name, offset)

    assert answers == ["a", "e"]
    w.on_committed(11)
    assert answers == ["a", "e", "b"]
    w.on_committed(13)
    assert answers == ["a", "e", "b", "c", "d"]
    assert len(w) == 0


def test_a_confirmation_is_requested_if_one_is_needed_and_none_is_pending():
    w, answers = waiting()

    assert w.question() == 0
    add(w, "a", -1, confirm=True)
    assert (w.question(), w.question()) == (1, 0)
    add(w, "b", -1, confirm=True)
    assert w.question() == 0
    w.on_confirmed(1)
    assert (answers, w.question()) == (["a"], 2)
    w.on_confirmed(2)
    assert (answers, w.question()) == (["a", "b"], 0)


def test_a_response_needs_both_the_commit_and_the_confirmation():
    w, answers = waiting()
    w.on_committed(5)
    add(w, "a", 7, confirm=True)
    add(w, "b", 4, confirm=True)
    w.question()

    w.on_committed(8)
    assert answers == []
    w.on_confirmed(1)
    assert answers == ["a", "b"]

    add(w, "c", 9, confirm=True)
    w.question()
    w.on_confirmed(2)
    assert answers == ["a", "b"]
    w.on_committed(10)
    assert answers == ["a", "b", "c"]


def test_clearing_returns_the_waiting_requests():
    w, answers = waiting()
    add(w, "a", 3)
    add(w, "b", 2)
    add(w, "c", -1, confirm=True)
    w.question()

    assert [request for _, request in w.clear()] == ["request b", "request a", "request c"]
    w.on_committed(9)
    w.on_confirmed(1)
    assert (answers, len(w), w.question()) == ([], 0, 0)


def test_a_confirmation_of_an_earlier_leadership_does_not_count():
    w, answers = waiting()
    add(w, "a", -1, confirm=True)
    assert w.question() == 1
    w.clear()
    add(w, "b", -1, confirm=True)

    assert w.question() == 2
    w.on_confirmed(1)
    assert answers == []


def test_responses_to_closed_connections_are_dropped():
    w, answers = waiting()
    for connection in (1, 2, 3):
        add(w, f"a{connection}", 3, connection=connection)
        add(w, f"b{connection}", -1, confirm=True, connection=connection)
    w.question()

    w.drop({1, 3})
    w.on_confirmed(1)
    w.on_committed(4)

    assert answers == ["b2", "a2"]


def test_the_response_to_a_write_stays_until_its_outcome_is_known_if_the_connection_is_closed():
    w, answers = waiting()
    add(w, "write", 3, written=Written(7, 2, 3))
    add(w, "read", 3)
    add(w, "lost write", 9, written=Written(7, 4, 9))

    w.drop({1})
    w.on_committed(4)
    left = w.clear()

    assert answers == ["write"]
    assert [request for _, request in left] == ["request lost write"]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(-1, 20), st.booleans()),
            st.tuples(st.just("commit"), st.integers(0, 21), st.none()),
            st.tuples(st.just("confirm"), st.none(), st.none()),
        )
    )
)
def test_each_response_is_sent_once_and_never_too_early(steps):
    committed, asked, confirmed = 0, 0, 0
    needs = {}
    left = []

    def reply(_, response):
        offset, number = needs[response]
        assert offset < committed, "too early"
        assert number <= confirmed, "without proof"
        left.append(response)

    w = Waiting(reply)
    for number, (what, value, confirm) in enumerate(steps):
        if what == "add":
            needs[number] = (value, asked + 1 if confirm else 0)
            w.add(context(), None, number, value, confirm=confirm)
        elif what == "commit":
            committed = max(committed, value)
            w.on_committed(committed)
        elif asked > confirmed:
            confirmed = asked
            w.on_confirmed(asked)
        question = w.question()
        if question:
            assert question == asked + 1
            asked = question
    committed = 99
    w.on_committed(99)
    while asked > confirmed:
        confirmed = asked
        w.on_confirmed(asked)
        asked = w.question() or asked

    assert sorted(left) == sorted(needs)
