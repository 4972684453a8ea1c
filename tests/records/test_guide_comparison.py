"""Our printed guide has all that the guides of 0.9 and 4.1 have, and each difference has its reason."""

from __future__ import annotations

from itertools import chain

import pytest

from records.registry import APIS
from tests.records.guide_comparison import (
    GUIDES,
    NO_REASON,
    Difference,
    Outcome,
    compared,
    compared_errors,
    compared_headers,
    counts,
    guide,
    missing_apis,
    missing_types,
    report,
)
from tests.records.guide_differences import API_NAMES, FIELD_NAMES, SAME_BYTES
from tests.records.guide_text import Guide, read_guide


def every_outcome(name: str) -> list[Outcome]:
    parsed = guide(name)
    return [*compared(name, parsed), *compared_headers(name, parsed), *compared_errors(name, parsed)]


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("0.9", {"equal": 8, "different": 42, "missing": 0}),
        ("4.1", {"equal": 508, "different": 30, "missing": 0}),
    ],
)
def test_every_grammar_of_a_guide_is_in_ours(name: str, figures: dict[str, int]) -> None:
    assert counts(compared(name, guide(name))) == figures


@pytest.mark.parametrize("name", GUIDES)
def test_every_difference_has_its_reason(name: str) -> None:
    unexplained = [
        (outcome.title, outcome.version, difference)
        for outcome in every_outcome(name)
        for difference in outcome.differences or ()
        if difference.reason == NO_REASON
    ]

    assert unexplained == []


@pytest.mark.parametrize("name", GUIDES)
def test_every_header_error_api_and_type_of_a_guide_is_in_ours(name: str) -> None:
    parsed = guide(name)

    assert [outcome for outcome in every_outcome(name) if outcome.verdict == "missing"] == []
    assert (missing_apis(parsed), missing_types(parsed)) == ([], [])


def test_the_guides_were_read_in_full() -> None:
    read = {name: tuple(len(part) for part in guide(name)) for name in GUIDES}

    assert read == {"0.9": (50, 2, 34, 17, 0), "4.1": (538, 4, 135, 77, 23)}


def test_the_guides_agree_that_every_api_of_theirs_has_requests_and_responses() -> None:
    for name in GUIDES:
        parsed = guide(name)
        titles = {grammar.title for grammar in parsed.grammars}

        assert titles == {f"{api} {side}" for api in parsed.api_keys for side in ("Request", "Response")}


def test_every_stored_reason_is_needed() -> None:
    for name in GUIDES:
        found = list(chain.from_iterable(outcome.differences or () for outcome in every_outcome(name)))

        assert {(one.in_text, one.in_ours) for one in found} >= FIELD_NAMES[name]
        assert {one.reason for one in found} >= set(SAME_BYTES[name].values())
    assert set(API_NAMES) <= set(guide("0.9").api_keys)


def printed_guide(grammar: str) -> Guide:
    return read_guide(f"Heartbeat API (Key: 12):\n{grammar}\n")


@pytest.mark.parametrize(
    ("grammar", "differences"),
    [
        (
            "Heartbeat Response (Version: 0) => error_code\n  error_code => INT32",
            (Difference("error_code", "INT32", "INT16", NO_REASON),),
        ),
        (
            "Heartbeat Response (Version: 0) => [error_code]\n  error_code => INT16",
            (Difference("error_code", "[INT16]", "INT16", NO_REASON),),
        ),
        (
            "Heartbeat Response (Version: 0) => code\n  code => INT16",
            (Difference("code", "code", "error_code", NO_REASON),),
        ),
        (
            "Heartbeat Response (Version: 0) => error_code more\n  error_code => INT16\n  more => INT8",
            (Difference("more", "INT8", "nothing", NO_REASON),),
        ),
        ("Heartbeat Response (Version: 0) =>", (Difference("error_code", "nothing", "INT16", NO_REASON),)),
        (
            "Heartbeat Response (Version: 0) => error_code\n  error_code => INT16\nResponse header version: 1",
            (Difference("header", "1", "0", NO_REASON),),
        ),
        ("Heartbeat Response (Version: 5) => error_code\n  error_code => INT16", None),
        ("Beat Response (Version: 0) => error_code\n  error_code => INT16", None),
    ],
)
def test_a_wrong_or_unknown_grammar_is_found(grammar: str, differences: tuple[Difference, ...] | None) -> None:
    assert [outcome.differences for outcome in compared("4.1", printed_guide(grammar))] == [differences]


def test_a_line_that_no_field_refers_to_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing refers to '  other => INT16'"):
        printed_guide("Heartbeat Response (Version: 0) => error_code\n  error_code => INT16\n  other => INT16")


def test_an_error_that_we_do_not_know_is_missing() -> None:
    parsed = read_guide("| NEW_ERROR | 999 | False | Something new. |")

    assert compared_errors("4.1", parsed) == [Outcome("NEW_ERROR", 999, None)]


def test_the_report_has_the_figures_and_a_line_for_each_difference() -> None:
    lines = report("4.1", guide("4.1")).splitlines()

    assert lines[:2] == ["Guide 4.1", "  538 grammars: 508 equal, 30 different, 0 missing"]
    assert lines[-2:] == [f"  {len(guide('4.1').api_keys)} APIs, missing: none", "  23 primitive types, missing: none"]
    assert sum("Request 3: generation_id" in line for line in lines) == 1


def test_apis_missing_in_both_guides_are_internal_or_newer() -> None:
    parsed = {API_NAMES.get(api, api) for name in GUIDES for api in guide(name).api_keys}

    assert {name for name, _ in APIS.values()} - parsed == {
        "Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "AlterPartition", "Envelope", "FetchSnapshot",
        "BrokerRegistration", "BrokerHeartbeat", "AllocateProducerIds", "ControllerRegistration",
        "AssignReplicasToDirs", "UpdateRaftVoter", "StreamsGroupTopologyDescriptionUpdate", "UnregisterController",
    }  # fmt: skip
