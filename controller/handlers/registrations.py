"""Listeners and features in registrations of brokers and controllers (KIP-631, KIP-919)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.state.tables.brokers import SECURITY_PROTOCOLS
from records.errors import ApiError, Error

if TYPE_CHECKING:
    from collections.abc import Iterable


def endpoints(cls: Any, listeners: Iterable[Any]) -> tuple[Any, ...]:
    """The listeners of a request as the inner struct `cls` of a record, in their order.

    Raises ApiError(INVALID_REGISTRATION) for a missing or repeated name, or an unknown security protocol.
    """
    by_name: dict[str, Any] = {}
    for listener in listeners:
        name = listener.name
        if not name:
            raise _refusal(f"The listener at {listener.host}:{listener.port} has no name.")
        if name in by_name:
            raise _refusal(f"There are two listeners with the name {name}.")
        if listener.security_protocol not in SECURITY_PROTOCOLS:
            raise _refusal(f"Listener {name} has the unknown security protocol {listener.security_protocol}.")
        by_name[name] = cls(
            name=name, host=listener.host, port=listener.port, security_protocol=listener.security_protocol
        )
    return tuple(by_name.values())


def features(cls: Any, offered: Iterable[Any]) -> tuple[Any, ...]:
    """The features of a request as the inner struct `cls` of a record, in their order."""
    return tuple(
        cls(
            name=feature.name,
            min_supported_version=feature.min_supported_version,
            max_supported_version=feature.max_supported_version,
        )
        for feature in offered
    )


def _refusal(text: str) -> ApiError:
    return ApiError(Error.INVALID_REGISTRATION, text)
