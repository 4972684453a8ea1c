"""What is shown in place of a secret."""

from __future__ import annotations

HIDDEN = "[hidden]"


def hide_url_secrets(text: str) -> str:
    """A URL with its user, password and query hidden; a text that is none as it is."""
    scheme, separator, rest = text.partition("://")
    if not separator:
        return text
    rest, query, _ = rest.partition("?")
    userinfo, at, place = rest.rpartition("@")
    return f"{scheme}://{HIDDEN + at if userinfo else at}{place}{query and query + HIDDEN}"
