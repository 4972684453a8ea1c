"""SECURITY.md: each promise has tests that prove it, and the tests are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The beginning of each sentence under "Guarantees" -> where it is proved: a file, and the function in it.
PROMISES = {
    "No byte from a peer, a client or a file can crash a node": (
        "raft/network/test_server.py::test_random_bytes_do_not_stop_the_server",
        "raft/test_hostile.py::test_no_message_of_a_peer_crashes_a_replica",
        "controller/server/test_hostile_leader.py::test_a_follower_refuses_what_is_no_continuation_of_its_log",
        "controller/server/test_hostile_leader.py::test_a_follower_refuses_what_is_no_snapshot",
        "controller/node/test_long_serving.py::test_small_requests_are_answered_while_a_long_one_is_served",
        "controller/core/test_long_steps.py::test_what_is_done_between_two_pauses_does_not_grow_with_the_request",
        "simulations/cluster/clients/test_hostile_clients.py::test_a_writer_waits_for_one_large_request_at_most",
    ),
    "Lengths are checked before use": (
        "controller/server/test_hostile_leader.py::test_a_follower_leaves_a_connection_with_a_frame_that_it_did_not_ask_for",
        "records/test_compression.py::test_a_decompression_bomb_is_refused",
    ),
    "responses, buffers and connections are limited": (
        "raft/network/test_server.py::test_many_small_holders_of_one_host_close_before_the_large_request_of_another",
        "raft/network/test_server.py::test_when_unread_answers_exceed_the_limit_the_oldest_such_connection_is_closed",
        "raft/network/test_server.py::test_a_connection_above_the_limit_replaces_the_one_idle_for_longest_on_the_server",
        "raft/network/test_sasl_gate.py::test_unfinished_requests_without_authentication_do_not_close_authenticated_clients",
        "raft/security/test_principal_rules.py::test_a_long_subject_is_mapped_or_refused_in_bounded_steps",
    ),
    "Fuzzers test the codecs, the network and the storage": (
        "records/test_compression.py::test_any_bytes_are_data_or_a_value_error",
    ),
    "An acknowledged change is on the disks of a majority": (
        "raft/state/test_commit.py::",
        "controller/node/audit/test_audit_log.py::test_a_change_has_a_line_when_it_is_committed_and_not_before",
    ),
    "Secrets are never printed": (
        "controller/handlers/security/test_delegation_tokens.py::test_the_secret_key_is_not_shown",
        "raft/network/test_sasl_gate.py::test_both_sides_log_why_and_no_secret",
    ),
    "A configuration that asks for what is not served is refused": (
        "controller/config/security/test_security_checks.py::",
        "records/java/test_java_regex.py::test_what_is_not_served_is_refused",
    ),
}


def test_each_guarantee_has_its_promises_here():
    text = " ".join((ROOT / "SECURITY.md").read_text().split())
    section = text.partition("## Guarantees")[2].partition("## ")[0]

    assert [promise for promise in PROMISES if promise not in text] == []
    bullets = [bullet for bullet in section.split("- **") if bullet.strip()]
    assert [bullet for bullet in bullets if not any(promise in bullet for promise in PROMISES)] == []


def test_the_tests_of_each_promise_are_there():
    missing = []
    for promise, tests in PROMISES.items():
        for each in tests:
            path, _, name = each.partition("::")
            text = (ROOT / "tests" / path).read_text()
            if re.search(rf"^(async )?def {name or 'test_'}", text, re.MULTILINE) is None:
                missing.append((promise, each))

    assert missing == []
