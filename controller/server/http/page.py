"""The status page: one self-contained file; its policy forbids other hosts and any script but its own."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pkgutil import get_data

from controller.server.http.answers import Answer


def _hash_of(page: str, tag: str) -> str:
    """The hash of the page's own style or script for the content security policy (CSP 3)."""
    found = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    assert found is not None, tag
    return f"'sha256-{b64encode(sha256(found[1].encode()).digest()).decode()}'"


def _page() -> Answer:
    # importlib.resources would import tempfile and zipfile with all they need: 1 MiB of memory.
    data = get_data(__package__, "page.html")
    assert data is not None
    page = data.decode()
    policy = (
        f"default-src 'none'; script-src {_hash_of(page, 'script')}; style-src {_hash_of(page, 'style')}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Answer(200, "text/html; charset=utf-8", page.encode(), (("Content-Security-Policy", policy),))


PAGE = _page()
