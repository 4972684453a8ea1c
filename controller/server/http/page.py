"""The status page: one self-contained file; its policy forbids other hosts and any script but its own.

The file has places for the state at the time of the request, which a browser without scripts shows.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pkgutil import get_data
from typing import Any

from controller.server.http.answers import Answer

STATUS, STATE = "<!--status-->", "<!--state-->"
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def escape(value: object) -> str:
    """The text of a value within HTML. The standard library's `html` would import its table of entities."""
    return str(value).translate(_ESCAPES)


def policy_of(page: str) -> str:
    """The content security policy of a page with its own style and script, by their hashes (CSP 3)."""
    return (
        f"default-src 'none'; script-src {_hash_of(page, 'script')}; style-src {_hash_of(page, 'style')}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hash_of(page: str, tag: str) -> str:
    match = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    return "'none'" if match is None else f"'sha256-{b64encode(sha256(match[1].encode()).digest()).decode()}'"


def _file() -> str:
    # importlib.resources would import tempfile and zipfile with all they need: 1 MiB of memory.
    data = get_data(__package__, "page.html")
    assert data is not None
    return data.decode()


_PAGE = _file()
_POLICY = policy_of(_PAGE)


def page_answer(view: dict[str, Any] | None) -> Answer:
    """The page. view: the content as `/events` sends it; None before there is a node."""
    status, state = ("This node starts.", "") if view is None else (escape(_status(view)), _first_state(view))
    page = _PAGE.replace(STATUS, status, 1).replace(STATE, state, 1)
    return Answer(200, "text/html; charset=utf-8", page.encode(), (("Content-Security-Policy", _POLICY),))


def _status(view: dict[str, Any]) -> str:
    """The first line of the page, in the words of its script."""
    quorum = view["quorum"]
    leader = "no leader is known" if quorum["leader_id"] is None else f"node {quorum['leader_id']} leads"
    failed = next((check["check"] for check in view["checks"] if not check["ok"]), None)
    if failed is not None:
        return f"Not ready. In epoch {quorum['epoch']} {leader}. Failed: {failed}."
    offline = 0 if view["cluster"]["loading"] else view["cluster"]["offline"]["count"]
    return f"Ready. In epoch {quorum['epoch']} {leader}.{' There are offline partitions.' if offline else ''}"


def _first_state(view: dict[str, Any]) -> str:
    node, quorum, cluster = view["node"], view["quorum"], view["cluster"]
    rows = [
        ("Node", f"{node['id']}, {node['role']}, cluster {node['cluster_id']}"),
        *((check["check"], f"{'yes' if check['ok'] else 'no'}: {check['reason']}") for check in view["checks"]),
        *((f"Voter {voter['id']}", _voter(voter)) for voter in quorum["voters"]),
    ]
    if not cluster["loading"]:
        rows.append(("Topics", f"{cluster['topics']}, with {cluster['partitions']} partitions"))
        rows += [(f"Broker {broker['id']}", broker["state"]) for broker in cluster["brokers"]]
    cells = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    problems = "".join(
        f'<li>{escape(one["text"])} (<a href="/runbook#{escape(one["runbook"])}">what to do</a>)</li>'
        for one in view["page_problems"]
    )
    return f"<dl>{cells}</dl><h2>Problems</h2><ul>{problems or '<li>none</li>'}</ul>"


def _voter(voter: dict[str, Any]) -> str:
    lag = "" if voter.get("lag") is None else f", lag {voter['lag']}"
    return f"{'leader' if voter['is_leader'] else 'voter'}{lag}, {', '.join(voter['endpoints'])}"
