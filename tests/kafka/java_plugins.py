"""Policies and authorizers of Kafka's tests, which are Java classes in the JVM of the test, as plugins of the node."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

from kraft_quorum.plugins import PolicyViolation

if TYPE_CHECKING:
    from kraft_quorum.plugins import Action, ConfigChange, NewTopic

PORT = "kraft.tests.plugins.port"


class JavaPlugin:
    """Asks the JVM, a line of JSON for each question, and waits for its answer."""

    def __init__(self, config: dict[str, str]) -> None:
        self._connection = socket.create_connection(("127.0.0.1", int(config[PORT])))
        self._lines = self._connection.makefile("rw", encoding="utf-8")

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

    def _ask(self, question: dict[str, Any]) -> dict[str, str]:
        self._lines.write(json.dumps(question) + "\n")
        self._lines.flush()
        answer: dict[str, str] = json.loads(self._lines.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer
