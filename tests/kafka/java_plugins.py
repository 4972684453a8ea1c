"""What Kafka's tests have as Java classes in their JVM, as plugins of the node: policies, authorizers, principals."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

from controller.rules.authorizer import StandardAuthorizer
from kraft_quorum.plugins import AclOperation, PolicyViolation, Principal

if TYPE_CHECKING:
    from controller.state.tables.acl_index import AclIndex
    from kraft_quorum.plugins import Action, ConfigChange, Decision, NewTopic

PORT = "kraft.tests.plugins.port"


class _Asking:
    """Asks the JVM, a line of JSON for each question, and waits for its answer."""

    def __init__(self, config: dict[str, str]) -> None:
        with socket.create_connection(("127.0.0.1", int(config[PORT]))) as connection:
            self._lines = connection.makefile("rw", encoding="utf-8")  # keeps the connection

    def _ask(self, question: dict[str, Any]) -> dict[str, str]:
        self._lines.write(json.dumps(question) + "\n")
        self._lines.flush()
        answer: dict[str, str] = json.loads(self._lines.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


class JavaPlugin(_Asking):
    """A policy or an authorizer that is a Java class."""

    def validate(self, request: NewTopic | ConfigChange) -> None:
        """Raises PolicyViolation where the Java class refuses, RuntimeError where it fails."""
        answer = self._ask(request._asdict())
        if "violation" in answer:
            raise PolicyViolation(answer["violation"])

    def decide(self, action: Action, _acls: object) -> tuple[bool, str]:
        """Whether the Java class allows it. Raises RuntimeError where it fails."""
        question = {
            "principal_type": action.principal.type, "principal": action.principal.name, "host": action.host,
            "listener": action.listener, "api_key": action.api_key, "operation": action.operation.value,
            "resource_type": action.resource_type.value, "resource_name": action.resource_name,
        }  # fmt: skip
        return "allowed" in self._ask(question), "a Java class"


class JavaPrincipals(_Asking):
    """Stock's authorizer, for the principals that a Java class makes of the connections of brokers."""

    def __init__(self, config: dict[str, str]) -> None:
        super().__init__(config)
        allows = config.get("allow.everyone.if.no.acl.found") == "true"
        self._standard = StandardAuthorizer(config.get("super.users", "").split(";"), allows_without_acls=allows)

    def decide(self, action: Action, acls: AclIndex | None) -> Decision:
        """Raises ApiError where the ACLs are not loaded, RuntimeError where the Java class fails."""
        # Only a broker's own requests need this operation, or have the principal of the connection, as its creation of
        # internal topics has: the others come in envelopes, with a client's principal.
        if action.operation == AclOperation.CLUSTER_ACTION or action.principal == Principal():
            name, host, listener = action.principal.name, action.host, action.listener
            made = self._ask({"name": name, "host": host, "listener": listener})
            action = action._replace(principal=Principal(made["type"], made["name"]))
        return self._standard.decide(action, acls)
