"""Secured worlds: every property holds, a plan determines its run, and clients with and without rights are served."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from simulations.secured import rules
from simulations.secured.level import draw, play, read, show


# `sweep --ci` plays the first 20 seeds; these three are small, and each has another protocol.
@pytest.mark.parametrize("seed", [2, 4, 12])
def test_every_property_of_a_secured_world_holds(seed: int) -> None:
    outcome, _ = play(draw(seed))

    assert outcome.property_id == "", outcome.text
    assert outcome.acknowledged > 0


def test_a_plan_from_its_json_has_the_same_run() -> None:
    plan = draw(7)

    again = read(show(plan))

    assert again == plan
    assert play(again)[0].trace_hash == play(plan)[0].trace_hash


def test_worlds_have_each_protocol_and_decisions_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    decisions: Counter[tuple[bool, bool]] = Counter()
    decide = rules.WatchedAuthorizer.decide

    def counted(self: Any, action: Any, acls: Any) -> Any:
        found = decide(self, action, acls)
        if found.rule.startswith("MatchingAcl") or not found.allowed:
            decisions[found.allowed, found.rule.startswith("MatchingAcl")] += 1
        return found

    monkeypatch.setattr(rules.WatchedAuthorizer, "decide", counted)
    plans = [draw(seed) for seed in (2, 11, 13, 16)]

    for plan in plans:
        play(plan)

    mechanisms = {draw(seed).mechanism for seed in range(1, 12)}

    assert mechanisms == {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
    assert {plan.protocol for plan in [*plans, draw(3), draw(5)]} == {"SSL", "SASL_PLAINTEXT", "SASL_SSL"}
    assert set(decisions) == {(True, True), (False, True), (False, False)}
