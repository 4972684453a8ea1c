"""What a source reads, whatever it is: which clusters there are, how far their logs reach, and how they are cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pipeline.source.directories import find
from pipeline.source.ranges import RANGE_BYTES, Finding, Plan, plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.source.ranges import Range

# Options of the source, in lower case, as Spark hands them over.
OPTIONS = {
    "path": "node directories, folders of them, directories of the partition, globs of these; separated by commas",
    "cluster": "the id of the one cluster that is meant",
    "quorum": "host:port of nodes of a live quorum, separated by commas",
    "watch": "host:port of the watch services of a live quorum, separated by commas",
    "watchca": "PEM file of the authority of the watch services; none: no TLS",
    "watchchain": "PEM file of the certificate to show to them",
    "watchkey": "PEM file of its key",
    "from": "where to begin: an offset for each cluster, as JSON",
    "rangebytes": "how many bytes a task reads",
    "maxbytespertrigger": "how many bytes a micro-batch reads at most",
    "push": "true to take filters; needs spark.sql.python.filterPushdown.enabled",
    "client": "the client id that a live quorum is told",
}
Progress = dict[str, dict[str, int]]


class OptionError(ValueError):
    """An option that cannot be. One line that says which."""


class Logs(Protocol):
    """Logs of some clusters."""

    def plans(self, progress: Mapping[str, Mapping[str, int]], *, is_live: bool) -> tuple[list[Plan], list[Finding]]:
        """What there is of each cluster behind its progress, and what is no log."""


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
    """What the options ask for; raises OptionError."""
    unknown = sorted(name for name in options if name.lower() not in OPTIONS)
    if unknown:
        raise OptionError(f"there is no option {', '.join(unknown)}; there are {', '.join(OPTIONS)}")
    given = {name.lower(): value for name, value in options.items()}
    range_bytes = number_of(given, "rangebytes", RANGE_BYTES)
    if len({"path", "quorum", "watch"} & set(given)) > 1:
        raise OptionError("a path, a quorum or a watch is read, not two of them")
    if "watch" in given:
        from pipeline.source.watched import Watch, targets_of, tls_of

        return Watch(targets_of(given["watch"]), tls_of(given))
    if "quorum" in given:
        from pipeline.source.quorum import Quorum, endpoints_of

        return Quorum(endpoints_of(given["quorum"]), given.get("client", "kraft-pipeline"), range_bytes)
    patterns = tuple(part.strip() for part in given.get("path", "").split(",") if part.strip())
    if not patterns:
        raise OptionError("nothing to read is given: load(path), or the option quorum or watch")
    return Directories(patterns, given.get("cluster"), range_bytes)


def number_of(options: Mapping[str, str], name: str, default: int) -> int:
    """An option that is a number above 0; raises OptionError."""
    text = options.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 40:
        raise OptionError(f"{name} is {text!r}, a number of bytes is wanted")
    return int(text)


def progress_of(text: str) -> Progress:
    """The option `from`: an offset by cluster id, as JSON; raises OptionError."""
    try:
        tree = json.loads(text or "{}")
        return {str(key): {"offset": _offset(value), "epoch": -1} for key, value in tree.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise OptionError(f"from is no JSON of an offset for each cluster: {error}") from None


def _offset(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no offset")
    return value


def before(found: Plan, until: int) -> tuple[list[Range], list[Finding]]:
    """What of a plan lies below an offset."""
    ranges = [
        part._replace(until=min(part.until, until))
        for part in found.ranges
        if (part.base_offset if part.checkpoint_end_offset < 0 else part.checkpoint_end_offset - 1) < until
    ]
    return ranges, [finding for finding in found.findings if finding.offset is None or finding.offset < until]
