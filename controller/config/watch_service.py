"""Checks between the keys of the watch service."""

from __future__ import annotations

from controller.config.values.definition import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.node import NodeConfig

LISTENER = "kraft.grpc.listener"
CERTIFICATE = "kraft.grpc.tls.certificate.path"
KEY = "kraft.grpc.tls.key.path"
CLIENT_CA = "kraft.grpc.tls.client.ca.path"
ALLOW = "kraft.grpc.allow"

ANYONE = "*"
# The kinds of names that a certificate has.
KINDS = ("CN", "DNS", "URI", "EMAIL", "IP")


def check_watch_service(config: NodeConfig) -> None:
    """Raises ConfigError, with one line that says what to do, if TLS, client CA and permissions are inconsistent."""
    if config.text(LISTENER) is None:
        return
    certificate, key, client_ca = (config.text(name) for name in (CERTIFICATE, KEY, CLIENT_CA))
    if (certificate is None) != (key is None):
        given, missing = (CERTIFICATE, KEY) if key is None else (KEY, CERTIFICATE)
        raise ConfigError(f"{given} is set and {missing} is not: TLS needs both, and no TLS neither")
    if client_ca is not None and certificate is None:
        raise ConfigError(f"{CLIENT_CA} is set without {CERTIFICATE}: only over TLS are clients asked for certificates")
    allowed = config.list(ALLOW)
    if client_ca is None and allowed:
        raise ConfigError(
            f"{ALLOW} names who may watch, but nobody is asked for a certificate; set {CLIENT_CA}, or remove {ALLOW}"
        )
    if client_ca is not None and not allowed:
        raise ConfigError(
            f"{CLIENT_CA} is set and {ALLOW} is not: name who may watch, as CN=name or DNS=name, or * for anyone whose "
            "certificate is of that authority"
        )
    for name in allowed:
        kind, _, rest = name.partition("=")
        if name != ANYONE and (kind not in KINDS or not rest):
            raise ConfigError(
                f"{ALLOW} has {name}: each name must be one of {', '.join(f'{one}=…' for one in KINDS)}, or be {ANYONE}"
            )
