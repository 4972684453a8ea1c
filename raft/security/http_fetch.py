"""A request to the provider of tokens or keys: one URL, bounded in time and size, without redirects and proxies."""

from __future__ import annotations

import ssl
import time
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from raft.security.files import FileError, read_bounded
from raft.security.keystores import pem, trusted_certificates
from records.hidden_text import hide_url_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

BYTES_MAX = 1 << 20
TIMEOUT_S = 10.0


class FetchFailed(ValueError):
    """The provider gave no answer that can be used. str(): why, with nothing secret."""


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str  # noqa: ARG002 - urllib's signature
    ) -> NoReturn:  # fmt: skip
        # A secret goes to the URL of the configuration and nowhere else.
        raise FetchFailed(f"{hide_url_secrets(req.full_url)} answers with a redirect ({code}), which is not followed")


def fetch(
    url: str,
    context: ssl.SSLContext | None,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    timeout_s: float = TIMEOUT_S,
) -> bytes:
    """What the URL answers to a GET, or to a POST where there is a body. Blocks. Raises FetchFailed.

    timeout_s: for each step; the whole takes at most three times as long.
    """
    opener = build_opener(ProxyHandler({}), _NoRedirects(), HTTPSHandler(context=context))
    request = Request(url, data=body, headers=dict(headers or {}))  # noqa: S310 - the scheme is http or https
    shown = hide_url_secrets(url)
    try:
        with opener.open(request, timeout=timeout_s) as response:
            data = _read(response, shown, time.monotonic() + 3 * timeout_s)
    except HTTPError as error:
        error.close()
        raise FetchFailed(f"{shown} answers with HTTP status {error.code}") from None
    except FetchFailed:
        raise
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchFailed(f"{shown} cannot be reached: {reason}") from None
    except HTTPException as error:  # its text may hold what was answered
        raise FetchFailed(f"{shown} does not answer in HTTP: {type(error).__name__}") from None
    return data


def _read(response: Any, shown: str, deadline: float) -> bytes:
    """The whole body. Raises FetchFailed."""
    body = bytearray()
    while part := response.read1(BYTES_MAX):
        body += part
        if len(body) > BYTES_MAX:
            raise FetchFailed(f"{shown} answers with more than {BYTES_MAX} bytes")
        if time.monotonic() > deadline:
            raise FetchFailed(f"{shown} answers too slowly")
    return bytes(body)


def context_of(options: Mapping[str, str]) -> ssl.SSLContext:
    """The TLS context for a provider: `ssl.truststore.*` among the options of the login module, else the system's.

    Raises FileError.
    """
    context = ssl.create_default_context()
    # As in Java; since Python 3.13 it refuses authorities without key usage.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    path, kind = options.get("ssl.truststore.location"), options.get("ssl.truststore.type", "JKS").upper()
    inline = options.get("ssl.truststore.certificates")
    if path is None and inline is None:
        return context
    where = path or "ssl.truststore.certificates"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if path is None:
        text = inline or ""
    elif kind == "PEM":
        text = read_bounded(path).decode("latin-1")
    else:
        certificates = trusted_certificates(read_bounded(path), path, options.get("ssl.truststore.password"))
        text = b"".join(pem("CERTIFICATE", each) for each in certificates).decode()
    try:
        context.load_verify_locations(cadata=text.encode("ascii", "replace").decode())
    except (ssl.SSLError, ValueError):
        raise FileError(f"{where} holds no certificates") from None
    return context
