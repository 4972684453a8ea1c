"""The plugins that ask the JVM of a test of Kafka."""

from __future__ import annotations

import json
import socket
import threading
from typing import TYPE_CHECKING, Any

from controller.state.tables.acl import AclResourceType
from controller.state.tables.acl_index import AclIndex
from kraft_quorum.plugins import AclOperation, Action, Principal
from tests.kafka.java_plugins import PORT, JavaPrincipals

if TYPE_CHECKING:
    from collections.abc import Callable

CLIENT = Principal("User", "client")


def test_stock_s_rules_decide_on_a_broker_s_request_for_the_principal_that_java_makes() -> None:
    asked: list[dict[str, Any]] = []
    principals = JavaPrincipals({PORT: str(answer_with(asked.append)), "super.users": "User:broker"})

    of_broker = principals.decide(action(Principal(), AclOperation.CLUSTER_ACTION), AclIndex())
    of_creation = principals.decide(action(Principal(), AclOperation.CREATE), AclIndex())
    of_client = principals.decide(action(CLIENT, AclOperation.ALTER), AclIndex())

    assert (of_broker, of_creation, of_client) == ((True, "SuperUser"), (True, "SuperUser"), (False, "DefaultDeny"))
    assert asked == [{"name": "ANONYMOUS", "host": "127.0.0.1", "listener": "CONTROLLER"}] * 2


def action(principal: Principal, operation: AclOperation) -> Action:
    return Action(principal, "127.0.0.1", "CONTROLLER", 1, operation, AclResourceType.CLUSTER, "kafka-cluster")


def answer_with(on_question: Callable[[dict[str, Any]], None]) -> int:
    """The port of a JVM that makes User:broker of every connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener, listener.accept()[0] as connection, connection.makefile("rw", encoding="utf-8") as lines:
            for line in lines:
                on_question(json.loads(line))
                lines.write(json.dumps({"type": "User", "name": "broker"}) + "\n")
                lines.flush()

    threading.Thread(target=serve, daemon=True).start()
    return int(listener.getsockname()[1])
