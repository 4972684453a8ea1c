"""Unknown keys in a node's file: a warning for each, which suggests a similar key."""

from __future__ import annotations

from controller.config.keys import own, server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Keys that plug-ins of a stock node read, and prefixes under which keys of any name may stand.
_ELSEWHERE = {"super.users", "allow.everyone.if.no.acl.found"}
_PREFIXES = (
    "listener.name.", "rsm.config.", "rlmm.config.", "config.providers.", "metrics.context.", "remote.log.",
    "prometheus.metrics.reporter.", "client.quota.callback.static.",
)  # fmt: skip


def unknown_keys(keys: Iterable[str]) -> list[str]:
    """A line for each unknown key, in the order given."""
    return [
        f"{key} is not a known configuration key{_suggestion(key)}; it is ignored"
        for key in keys
        if key not in server.KEYS
        and key not in own.KEYS
        and key not in server.BROKER_QUOTA_KEYS
        and key not in _ELSEWHERE
        and not key.startswith(_PREFIXES)
    ]


def _suggestion(key: str) -> str:
    from difflib import get_close_matches

    # Long keys are not compared: a file may hold a key of any length.
    near = get_close_matches(key[:100], [*server.KEYS.keys, *own.KEYS.keys], n=1, cutoff=0.85)
    return f" (did you mean {near[0]}?)" if near else ""
