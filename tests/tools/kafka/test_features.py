"""kafka-features on a running node of ours, without stock: tests/interop/test_stock_tools.py compares both."""

from __future__ import annotations

import re

from tests.tools.kafka.cases import answer


def test_features_are_shown_and_a_change_that_is_refused_counts(address: str) -> None:
    shown = answer("features", address, "--bootstrap-controller", "ADDRESS", "describe")
    refused = answer("features", address, "--bootstrap-controller", "ADDRESS", "upgrade", "--feature", "nothing=1")

    assert re.sub(r" +", " ", shown["stdout"].splitlines()[3]).startswith(
        "Feature: metadata.version SupportedMinVersion: 3.3-IV3 SupportedMaxVersion: 4.4-IV2 "
        "FinalizedVersionLevel: 4.4-IV2 Epoch: "
    )
    assert refused["stdout"].startswith("Could not upgrade nothing to 1. ")
    assert (refused["stderr"], refused["exit"]) == ("1 out of 1 operation(s) failed.\n", 1)
