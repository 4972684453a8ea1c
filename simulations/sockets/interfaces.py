"""The interfaces of the network and of the checks for a process on sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Container

    from raft.interface.inputs import Answered
    from simulations.sockets.frames import Answer, Asked
    from simulations.sockets.tcp import Opener, TcpConnection


class Opens(Protocol):
    """See `network.SocketNetwork`."""

    @property
    def hosts(self) -> Container[str]: ...
    def open(self, process: Any, opening: Opener) -> TcpConnection: ...
    def abandon(self, connection: TcpConnection) -> None: ...


class WireChecks(Protocol):
    """See `wire_rules.WireRules`."""

    def request_leaves(self, connection: TcpConnection, data: bytes) -> Asked | None: ...
    def answer_leaves(self, connection: TcpConnection, data: bytes) -> Answer | None: ...
    def takes(self, process: Any, incoming: Any) -> Asked: ...
    def answers(self, process: Any, connection: TcpConnection, place: int, response: Any) -> None: ...
    def is_nonsense(self, connection: TcpConnection, frame: Asked) -> bool: ...
    def is_answer_to(self, channels: Any, event: Answered, asked: Any) -> None: ...
