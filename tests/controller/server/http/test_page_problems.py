"""The problems of the page, and that the runbook has a section for each."""

from __future__ import annotations

from typing import Any

from controller.node.logging.problems import DATA_LOST, TEXTS
from controller.server.http.page_problems import SECTION, SECTIONS, page_problems
from controller.server.http.probes import Shown
from controller.server.http.runbook import FILES, anchor


def cluster(offline: int = 0, under: int = 0, fenced: int = 0) -> dict[str, Any]:
    return {
        "loading": False,
        "offline": {"count": offline},
        "under_replicated": {"count": under},
        "brokers": [{"id": number, "state": "fenced"} for number in range(fenced)] + [{"id": 99, "state": "active"}],
    }


def test_partitions_and_brokers_are_problems_after_those_of_the_node() -> None:
    problems = [Shown("cannot connect to node 2", 4000), Shown("the disk is slow", 1000, "disk_slow")]

    assert page_problems(problems, cluster(offline=1, under=2, fenced=1)) == [
        {"text": "cannot connect to node 2", "lasts_ms": 4000, "runbook": "kraftcontrollerdown"},
        {"text": "the disk is slow", "lasts_ms": 1000, "runbook": "kraftcommitsslow"},
        {
            "text": "1 partition without a leader: nobody can write or read there", "lasts_ms": None,
            "runbook": "kraftofflinepartitions",
        },
        {
            "text": "2 partitions with replicas that are not in sync", "lasts_ms": None,
            "runbook": "kraftunderreplicated",
        },
        {"text": "1 fenced broker: 0", "lasts_ms": None, "runbook": "kraftbrokerfenced"},
    ]  # fmt: skip


def test_a_quorum_that_has_lost_data_leads_to_its_own_section() -> None:
    (found,) = page_problems([Shown("the quorum has lost data", 1000, DATA_LOST)], cluster())

    assert found["runbook"] == "kraftquorumlostdata"


def test_a_healthy_cluster_and_one_that_is_being_loaded_have_no_problems() -> None:
    assert page_problems([], cluster()) == []
    assert page_problems([], {"loading": True}) == []


def test_of_many_brokers_the_first_are_named() -> None:
    (found,) = page_problems([], cluster(fenced=12))

    assert found["text"] == "12 fenced brokers: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"


def test_each_section_is_one_of_the_runbook_and_each_event_one_of_a_problem() -> None:
    headings = {anchor(line.lstrip("#")) for line in FILES[-1].read_text("utf-8").splitlines() if line.startswith("#")}

    assert {SECTION, *SECTIONS.values(), "kraftofflinepartitions", "kraftunderreplicated"} <= headings
    assert SECTIONS.keys() - {""} <= {event.partition(" ")[0] for event in TEXTS}
