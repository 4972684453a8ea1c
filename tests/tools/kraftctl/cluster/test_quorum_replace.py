"""The next step of `kraftctl quorum replace`, by what the leader reports, and what it refuses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from records.errors import Error
from records.java.config_error import ConfigError
from records.messages.voters import RemoveRaftVoterResponse
from tests.tools.kraftctl.cluster.test_quorum_calls import member, view
from tools.client.quorum import NoLeader
from tools.kraftctl.cluster.quorum_calls import Quorum, Seen
from tools.kraftctl.cluster.quorum_replace import (
    ADD,
    DONE,
    REMOVE,
    WAIT,
    Refused,
    Replacing,
    listener,
    next_step,
    plan_of,
)

if TYPE_CHECKING:
    from tools.client.quorum import Address, View

NEW = member(3, directory="new")


def seen(voters: str, alive: str = "", observers: tuple[str, ...] = (), *, lags: str = "") -> Seen:
    """A quorum led by 1. voters, alive, lags: ids, such as `123`; observers: of controller 3, `+`: it fetches."""
    observer_members = tuple(member(3, 50 if "3" in lags else 100, directory=name.strip("+")) for name in observers)
    members = [member(int(each), 50 if each in lags else 100) for each in voters]
    keys = {(int(each), f"d{each}") for each in alive}
    keys |= {(3, f"{name[1:]}3") for name in observers if name.startswith("+")}
    return Seen(view(*members, observers=observer_members), frozenset(keys), 100)


@pytest.mark.parametrize(
    ("found", "action", "directory"),
    [
        (seen("123", "12"), REMOVE, "d3"),
        (seen("123", "12", ("+new",)), REMOVE, "d3"),
        (seen("12", "12"), WAIT, ""),
        # The old directory is an observer for a while after its removal; it does not fetch.
        (seen("12", "12", ("d",)), WAIT, ""),
        (seen("12", "12", ("d", "+new"), lags="3"), WAIT, "new3"),
        (seen("12", "12", ("d", "+new")), ADD, "new3"),
        (seen("123", "123"), DONE, "d3"),
        (seen("12345", "124"), REMOVE, "d3"),
    ],
)
def test_each_state_has_its_next_step(found: Seen, action: str, directory: str) -> None:
    step = next_step(found, 3)

    assert (step.action, step.directory_id) == (action, directory)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            seen("123", "1"),
            "without voter 3, the quorum has 2 voters and needs 2 that are alive and caught up; it has 1",
        ),
        (seen("123", "12", lags="2"), r"it has 1: 1 \(caught up\), 2 \(lags\)"),
        (seen("12345", "12"), "has 4 voters and needs 3 that are alive and caught up; it has 2"),
        (seen("12", "1", ("+new",)), None),
        (seen("1245", "12", ("+new",)), None),
        (seen("123", "123", ("+new",)), "voter 3 still fetches with its old directory id d3, beside the new one, new3"),
        (seen("12", "12", ("+new", "+newer")), "2 observers with id 3 fetch"),
    ],
)
def test_what_would_cost_the_majority_is_refused(found: Seen, text: str | None) -> None:
    if text is None:
        # With the new directory, a majority is alive again.
        assert next_step(found, 3).action == ADD
        return
    with pytest.raises(Refused, match=text):
        next_step(found, 3)


def test_an_addition_without_a_majority_is_refused() -> None:
    with pytest.raises(Refused, match="with voter 3, the quorum has 5 voters and needs 3"):
        next_step(seen("1245", "1", ("+new",)), 3)


def test_static_voters_are_explained() -> None:
    static = seen("12", "12")
    voters = {number: each._replace(directory_id="") for number, each in static.view.voters.items()}

    with pytest.raises(Refused, match=r"the voters 1, 2 are static .* kraftctl quorum migrate --to dynamic"):
        next_step(static._replace(view=static.view._replace(voters=voters)), 1)


def test_the_plan_names_the_directories_and_the_majority_after_each_step() -> None:
    quorum = seen("123", "12", ("+new",))

    plan = plan_of(quorum, 3, next_step(quorum, 3))

    assert plan[plan.index("plan:") + 1 :] == [
        "  1. remove voter 3 with directory id d3: 2 of 2 voters alive, 2 needed, 0 more may fail",
        "  2. wait until directory id new3 has the committed records",
        "  3. add it as voter 3: 3 of 3 voters alive, 2 needed, 1 more may fail",
        "  4. check that it is a voter and fetches",
    ]


def test_a_listener_is_a_name_and_an_address() -> None:
    assert listener("controller://c2:9093") == ("CONTROLLER", ("c2", 9093))
    for text in ("c2:9093", "CONTROLLER://c2", "://c2:1", "CONTROLLER://:9093"):
        with pytest.raises(ConfigError, match="NAME://HOST:PORT is expected"):
            listener(text)


class Cut(Quorum):
    """A quorum whose leader answers a change with this error, or ends before it answers, and has no successor."""

    def __init__(self, error: Error | None) -> None:
        super().__init__([("h", 1)], "test", None)
        self.error = error

    def look(self) -> View:
        raise NoLeader("no leader")

    def ask(self, address: Address, request: Any, seconds: float = 0.0) -> Any:
        if self.error is None:
            raise ConnectionError("the connection ended")
        return RemoveRaftVoterResponse(throttle_time_ms=0, error_code=self.error, error_message="no")


@pytest.mark.parametrize(
    ("error", "is_begun"),
    [(None, True), (Error.NONE, True), (Error.REQUEST_TIMED_OUT, True), (Error.CLUSTER_AUTHORIZATION_FAILED, False)],
)
def test_a_change_whose_answer_is_lost_counts_as_begun(error: Error | None, is_begun: bool) -> None:
    quorum = seen("123", "12")
    lost = quorum.view.voters[3]._replace(directory_id="4L6g3nShT-eMCtK--X86sw")
    quorum = quorum._replace(view=quorum.view._replace(voters={**quorum.view.voters, 3: lost}))
    work = Replacing(Cut(error), 3, {}, time.monotonic() + 1, is_quiet=True)

    with pytest.raises(OSError, match="no leader" if is_begun else "refused with CLUSTER_AUTHORIZATION_FAILED: no"):
        work.finish(quorum)

    assert work.is_begun is is_begun
