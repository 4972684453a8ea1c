"""Values that a thread fetches again."""

from __future__ import annotations

import threading

import pytest

from controller.security.refreshed import Refreshed
from raft.security.http_fetch import FetchFailed


class Source:
    """Gives 1, 2, 3, …, or fails with the reasons of a list, one after the other."""

    def __init__(self, *failures: str | None) -> None:
        self.failures = list(failures)
        self.calls = 0
        self.notes = []
        self._changed = threading.Condition()

    def fetch(self) -> int:
        with self._changed:
            self.calls += 1
            self._changed.notify_all()
            reason = self.failures.pop(0) if self.failures else None
        if reason is not None:
            raise FetchFailed(reason)
        return self.calls

    def refreshed(self, wait_s: float) -> Refreshed[int]:
        return Refreshed(
            "keys", self.fetch, wait_s=lambda _: wait_s, backoff_s=(0.001, 0.002),
            note=lambda name, fields: self.notes.append((name, fields)),
        )  # fmt: skip

    def await_calls(self, number: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.calls >= number, 10)


def test_the_first_value_must_be_there():
    with pytest.raises(FetchFailed, match="gone"):
        Source("gone").refreshed(1)


def test_a_value_is_fetched_again_when_its_time_is_over():
    source = Source()
    found = source.refreshed(0.001)
    source.await_calls(4)

    assert found.value >= 3
    found.close()


def test_a_hurry_fetches_at_once():
    source = Source()
    found = source.refreshed(3600)

    assert found.value == 1
    found.hurry()
    source.await_calls(2)
    found.close()


def test_a_failure_is_logged_once_and_the_value_stays():
    source = Source(None, "gone", "gone", "gone", "other")
    found = source.refreshed(0.001)
    source.await_calls(8)
    found.close()

    assert [(name, fields.get("reason")) for name, fields in source.notes] == [
        ("security_fetch_failed", "gone"), ("security_fetch_failed", "other"), ("security_fetch_resumed", None),
    ]  # fmt: skip


def test_the_pause_doubles_with_each_failure_up_to_a_bound_and_begins_anew_after_a_success():
    waits = []

    class Recording(Refreshed):
        def _pause(self, wait_s):
            waits.append(wait_s)
            return len(waits) < 8

    source = Source(None, "gone", "gone", "gone", None, "gone", "gone")
    found = Recording("keys", source.fetch, wait_s=lambda _: 60, backoff_s=(1, 3), note=lambda *_: None)
    found._thread.join(10)

    assert waits == [60, 1, 2, 3, 60, 1, 2, 60]


def test_after_the_end_nothing_is_fetched():
    source = Source()
    found = source.refreshed(3600)
    found.close()
    found._thread.join(10)

    assert not found._thread.is_alive()
    assert source.calls == 1
