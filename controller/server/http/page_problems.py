"""The problems that the page shows, of the node, peers, brokers and partitions, each with its row of the runbook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from controller.server.http.probes import Shown

# The section of docs/runbook.md, by the event of a problem; those without a row have a section for all.
SECTIONS = {
    "": "kraftcontrollerdown",  # a peer that cannot be connected to
    "majority_missing": "kraftnoactivecontroller",
    "truncation_refused": "kraftquorumlostdata",
    "disk_slow": "kraftcommitsslow",
    "disk_nearly_full": "kraftloggrows",
    "peer_has_other_key": "a-disk-is-lost",
}
SECTION = "problems-that-a-node-reports"
BROKERS_MAX = 10


def page_problems(problems: Iterable[Shown], cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """Each as `text`, `lasts_ms` (None if unknown) and `runbook`, the section. cluster: of `cluster_view`."""
    rows = [
        {"text": shown.text, "lasts_ms": shown.lasts_ms, "runbook": SECTIONS.get(shown.event, SECTION)}
        for shown in problems
    ]
    if not cluster["loading"]:
        rows += [{"text": text, "lasts_ms": None, "runbook": section} for text, section in _of_cluster(cluster)]
    return rows


def _of_cluster(cluster: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Text and section."""
    offline, under = cluster["offline"]["count"], cluster["under_replicated"]["count"]
    fenced = [broker["id"] for broker in cluster["brokers"] if broker["state"] == "fenced"]
    if offline:
        yield (
            f"{_count(offline, 'partition')} without a leader: nobody can write or read there",
            "kraftofflinepartitions",
        )
    if under:
        yield f"{_count(under, 'partition')} with replicas that are not in sync", "kraftunderreplicated"
    if fenced:
        yield f"{_count(len(fenced), 'fenced broker')}: {_some(fenced)}", "kraftbrokerfenced"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _some(brokers: Sequence[int]) -> str:
    more = len(brokers) - BROKERS_MAX
    shown = ", ".join(str(broker) for broker in brokers[:BROKERS_MAX])
    return shown if more <= 0 else f"{shown} and {more} more"
