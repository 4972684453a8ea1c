"""The names of cipher suites: Kafka's keys have Java's, OpenSSL has others before TLS 1.3."""

from __future__ import annotations

import re

_OLD = re.compile(r"TLS_(?:(ECDHE|DHE)_(RSA|ECDSA|DSS)|(RSA))_WITH_(.+)")
_BODIES = {
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384", "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305", "AES_256_CBC_SHA384": "AES256-SHA384",
    "AES_128_CBC_SHA256": "AES128-SHA256", "AES_256_CBC_SHA256": "AES256-SHA256", "AES_256_CBC_SHA": "AES256-SHA",
    "AES_128_CBC_SHA": "AES128-SHA",
}  # fmt: skip


def open_ssl_name(name: str) -> str:
    """OpenSSL's name of a cipher suite; a name of TLS 1.3, or one that is not known, stays."""
    match = _OLD.fullmatch(name)
    if match is None or match[4] not in _BODIES:
        return name
    body = _BODIES[match[4]]
    return body if match[3] else f"{match[1]}-{match[2]}-{body}"
