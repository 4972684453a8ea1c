"""The thread of long requests, on a real loop: who runs when."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from controller.node import long_thread
from controller.node.long_thread import LongThread

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def slices_of_one_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pause ends the slice."""
    monkeypatch.setattr(long_thread, "SLICE_S", -1.0)


def run(scene: Callable[[LongThread, asyncio.Future[None]], None], on_slice: Any = lambda _: None) -> None:
    """Have a scene on a loop with a thread, until it sets the result of its future."""

    async def play() -> None:
        loop = asyncio.get_running_loop()
        thread = LongThread(loop, on_slice)
        done = loop.create_future()
        scene(thread, done)
        await asyncio.wait_for(done, 20)
        thread.close()

    asyncio.run(play())


def test_the_loop_runs_between_any_two_slices_and_never_within_one() -> None:
    seen: list[str] = []
    ticking = True

    def scene(thread: LongThread, done: asyncio.Future[None]) -> None:
        loop = asyncio.get_running_loop()

        def tick() -> None:
            seen.append("loop")
            if ticking:
                loop.call_soon(tick)

        def work() -> str:
            for number in range(3):
                seen.append(f"begins {number}")
                seen.append(f"ends {number}")
                assert thread.pause()
            return "result"

        def then(result: Any, error: BaseException | None) -> None:
            nonlocal ticking
            ticking = False
            seen.append(f"{result} {error}")
            done.set_result(None)

        tick()
        thread.submit(lambda: thread.take_turns(work, then))

    run(scene)

    without_loop = [each for each in seen if each != "loop"]
    assert without_loop == [*(f"{verb} {n}" for n in range(3) for verb in ("begins", "ends")), "result None"]
    for number in range(3):
        begin, end = seen.index(f"begins {number}"), seen.index(f"ends {number}")
        assert end == begin + 1
        assert "loop" in seen[end : seen.index(f"begins {number + 1}") if number < 2 else len(seen)]


def test_what_the_work_raises_is_given_to_the_loop() -> None:
    seen: list[tuple[Any, str, bool]] = []

    def scene(thread: LongThread, done: asyncio.Future[None]) -> None:
        main = threading.get_ident()

        def work() -> None:
            raise ValueError("wrong")

        def then(result: Any, error: BaseException | None) -> None:
            seen.append((result, repr(error), threading.get_ident() == main))
            done.set_result(None)

        thread.submit(lambda: thread.take_turns(work, then))

    run(scene)

    assert seen == [(None, "ValueError('wrong')", True)]


def test_what_follows_in_the_job_runs_beside_the_loop_after_the_result_was_taken() -> None:
    seen: list[str] = []

    def scene(thread: LongThread, done: asyncio.Future[None]) -> None:
        def job() -> None:
            thread.take_turns(lambda: 1, lambda _result, _error: seen.append("taken"))
            seen.append("after")
            thread.call(lambda: done.set_result(None))

        thread.submit(job)

    run(scene)

    assert seen == ["taken", "after"]


def test_each_slice_is_measured() -> None:
    slices: list[float] = []

    def scene(thread: LongThread, done: asyncio.Future[None]) -> None:
        def then(_result: Any, _error: BaseException | None) -> None:
            done.set_result(None)

        thread.submit(lambda: thread.take_turns(thread.pause, then))

    run(scene, slices.append)

    assert len(slices) == 2


def test_a_job_whose_node_ends_is_not_continued() -> None:
    seen: list[str] = []

    def scene(thread: LongThread, done: asyncio.Future[None]) -> None:
        loop = asyncio.get_running_loop()

        def work() -> None:
            seen.append("first slice")
            loop.call_soon_threadsafe(end)
            thread.pause()
            seen.append("second slice")

        def end() -> None:
            thread.close()
            thread._thread.join(20)
            done.set_result(None)

        thread.submit(lambda: thread.take_turns(work, lambda *_: seen.append("taken")))

    run(scene)

    assert seen[0] == "first slice"
    assert "taken" not in seen
