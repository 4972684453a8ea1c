"""The logs that a source reads: their clusters, their end offsets, and their plans; from directories or a quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from pipeline.source.directories import find
from pipeline.source.options import OPTIONS, OptionError, number_of
from pipeline.source.ranges import RANGE_BYTES, Finding, Plan, plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.source.ranges import Range


class Logs(Protocol):
    """The logs of some clusters."""

    def plans(self, progress: Mapping[str, Mapping[str, int]], *, is_live: bool) -> tuple[list[Plan], list[Finding]]:
        """A plan for each cluster, from its progress on, and findings for directories that are not logs."""


class Directories(NamedTuple):
    """Logs in directories."""

    patterns: tuple[str, ...]
    cluster_id: str | None
    range_bytes: int

    def plans(self, progress: Mapping[str, Mapping[str, int]], *, is_live: bool) -> tuple[list[Plan], list[Finding]]:
        copies, skipped = find(self.patterns, self.cluster_id)
        by_cluster: dict[str, list[object]] = {}
        for copy in copies:
            by_cluster.setdefault(copy.cluster_id, []).append(copy)
        plans = []
        for cluster_id, mine in by_cluster.items():
            done = progress.get(cluster_id, {})
            plans.append(
                plan(
                    mine,  # type: ignore[arg-type]
                    range_bytes=self.range_bytes,
                    from_offset=done.get("offset", 0),
                    from_epoch=done.get("epoch", -1),
                    is_live=is_live,
                )
            )
        return plans, [
            Finding(self.cluster_id, None, entry.path, None, None, "skipped", entry.reason) for entry in skipped
        ]


def logs_of(options: Mapping[str, str]) -> Logs:
    """The logs that the options name; raises OptionError."""
    unknown = sorted(name for name in options if name.lower() not in OPTIONS)
    if unknown:
        raise OptionError(f"unknown option {', '.join(unknown)}; the options are {', '.join(OPTIONS)}")
    given = {name.lower(): value for name, value in options.items()}
    range_bytes = number_of(given, "rangebytes", RANGE_BYTES)
    if len({"path", "quorum", "watch"} & set(given)) > 1:
        raise OptionError("give only one of: a path, quorum, watch")
    if "commandconfig" in given and "quorum" not in given:
        raise OptionError("commandConfig (--command-config) goes with quorum")
    if "watch" in given:
        # grpc is loaded only if it is used.
        from pipeline.source.watched import Watch, targets_of, tls_of

        return Watch(targets_of(given["watch"]), tls_of(given))
    if "quorum" in given:
        from pipeline.source.quorum import quorum_of

        return quorum_of(given)
    patterns = tuple(part.strip() for part in given.get("path", "").split(",") if part.strip())
    if not patterns:
        raise OptionError("nothing to read: give load(path), or the option quorum or watch")
    return Directories(patterns, given.get("cluster"), range_bytes)


def before(plan: Plan, until: int) -> tuple[list[Range], list[Finding]]:
    """The ranges and findings of a plan below an offset."""
    ranges = [
        part._replace(until=min(part.until, until))
        for part in plan.ranges
        if (part.base_offset if part.checkpoint_end_offset < 0 else part.checkpoint_end_offset - 1) < until
    ]
    return ranges, [finding for finding in plan.findings if finding.offset is None or finding.offset < until]
