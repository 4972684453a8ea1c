"""The budgets of the audit log: by principal, and of all of them."""

from __future__ import annotations

from controller.node.audit.audit_limit import (
    ALL_BURST_BYTES,
    ALL_BYTES_PER_S,
    BURST_BYTES,
    BYTES_PER_S,
    PRINCIPALS_MAX,
    AuditLimit,
)

LINE = 1000


def written(limit: AuditLimit, principals: list[str], seconds: int, now_ms: int = 0) -> int:
    """The bytes that pass when each principal has 20 lines a second."""
    total = 0
    for second in range(seconds):
        for principal in principals * 20:
            if limit.may_write(principal, now_ms + 1000 * second):
                limit.spend(principal, LINE)
                total += LINE
    return total


def test_one_principal_has_its_burst_and_then_its_rate():
    assert BURST_BYTES <= written(AuditLimit(), ["User:a"], 600) <= BURST_BYTES + 600 * BYTES_PER_S + LINE


def test_very_many_principals_have_the_burst_and_the_rate_of_all():
    bytes_written = written(AuditLimit(), [f"User:{number}" for number in range(30)], 300)

    assert ALL_BURST_BYTES <= bytes_written <= ALL_BURST_BYTES + 300 * ALL_BYTES_PER_S + LINE


def test_what_was_left_out_is_counted_once():
    limit = AuditLimit()
    written(limit, ["User:a"], 100)

    assert limit.take_omitted("User:a") == 900
    assert limit.take_omitted("User:a") == 0
    assert limit.take_omitted("User:b") == 0


def test_a_budget_is_whole_again_after_a_pause_and_a_clock_that_goes_back_gives_nothing():
    limit = AuditLimit()
    written(limit, ["User:a"], 100, now_ms=1_000_000)

    assert written(limit, ["User:a"], 1, now_ms=0) <= LINE
    assert written(limit, ["User:a"], 100, now_ms=10_000_000) >= BURST_BYTES


def test_the_principals_that_are_known_are_bounded():
    limit = AuditLimit()
    for number in range(PRINCIPALS_MAX + 5):
        limit.may_write(f"User:{number}", 0)

    assert (len(limit._of), "User:4" in limit._of, "User:5" in limit._of) == (PRINCIPALS_MAX, False, True)
