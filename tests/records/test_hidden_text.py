"""Secrets in texts that are shown."""

from __future__ import annotations

from records.hidden_text import hide_url_secrets


def test_the_secrets_of_a_url_are_hidden() -> None:
    assert hide_url_secrets("https://user:pw@host/path?token=1") == "https://[hidden]@host/path?[hidden]"
    assert hide_url_secrets("https://host/path") == "https://host/path"
    assert hide_url_secrets("no address") == "no address"
