"""Answers over HTTP, of any status."""

from __future__ import annotations

import urllib.error
import urllib.request


def http_answer(url: str, timeout_s: float = 5) -> tuple[int, str]:
    """Status and body. Raises OSError where nothing answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout_s) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
