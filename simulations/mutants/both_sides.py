"""Mutants of the controller that act, or tell a broker something, too early."""

from __future__ import annotations

from simulations.mutants.controllers import row
from simulations.mutants.row import Edit

BEATS, SESSIONS = "controller.handlers.heartbeats", "controller.interface.sessions"

MUTANTS = (
    row(
        "Q120", "a broker is fenced at half of its session", "brokers", "own", ("C23", "L08"),
        Edit(SESSIONS, "Sessions._is_expired", "contact_ms + self.timeout_ms < now_ms", "contact_ms + self.timeout_ms // 2 < now_ms"),
    ),
    row(
        "Q126", "a broker is told that it is caught up one record early", "brokers", "own", ("C21",),
        Edit(
            BEATS, "heartbeat", "BrokerHeartbeatResponse(**..., is_caught_up=request.current_metadata_offset >= registration_offset, **...)",
            "BrokerHeartbeatResponse(**..., is_caught_up=request.current_metadata_offset >= registration_offset - 1, **...)",
        ),
    ),
    row(
        "Q127", "a broker is always told that it is caught up", "brokers", "own", ("C21",),
        Edit(
            BEATS, "heartbeat", "BrokerHeartbeatResponse(**..., is_caught_up=request.current_metadata_offset >= registration_offset, **...)",
            "BrokerHeartbeatResponse(**..., is_caught_up=True, **...)",
        ),
    ),
)  # fmt: skip
