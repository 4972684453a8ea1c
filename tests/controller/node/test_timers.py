"""When a node steps its cores."""

from types import SimpleNamespace
from typing import Any

from controller.node.timers import Timers
from tests.controller.rig import Rig


class Loop:
    """Keeps what is called later."""

    def __init__(self) -> None:
        self.delays_s: list[float] = []

    def call_later(self, delay_s: float, _act: Any) -> Any:
        self.delays_s.append(delay_s)
        return SimpleNamespace(cancel=lambda: None)


def delay_s(rig: Rig) -> float:
    """The time until the cores are stepped."""
    loop: Any = Loop()
    replica: Any = SimpleNamespace(deadline_ms=rig.now_ms + 500)
    timers = Timers(
        loop, replica, rig.controller, None, None, now_ms=lambda: rig.now_ms, wall_ms=lambda: rig.now_ms,  # type: ignore[arg-type]
        queue=lambda _raft, _controller: None, drain=lambda: None,
    )  # fmt: skip
    timers.arm()
    return loop.delays_s[0]


def test_a_deadline_that_has_passed_is_awaited_a_millisecond_and_the_next_step_of_a_change_not_at_all() -> None:
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0, 1)
    rig.create("foo", *[(0, 1)] * 8)
    rig.now_ms += 9001
    assert delay_s(rig) == 0.001

    rig.heartbeat(0)
    rig.heartbeat(1)
    assert delay_s(rig) == 0.5
    rig.controller.env.partitions_at_once = 3
    rig.heartbeat(0, want_shut_down=True)
    assert delay_s(rig) == 0
