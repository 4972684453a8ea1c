"""What an operator's own authorizer and policies are given, and what they raise (docs/security.md).

from kraft_quorum.plugins import NewTopic, PolicyViolation

class Naming:
def __init__(self, config: dict[str, str]) -> None:
self.prefix = config["naming.prefix"]

def validate(self, request: NewTopic) -> None:
if not request.topic.startswith(self.prefix):
raise PolicyViolation(f"topics here begin with {self.prefix}")
"""

from __future__ import annotations

from controller.interface.access import Action, Decision
from controller.interface.inputs import Principal
from controller.interface.policies import ConfigChange, NewTopic, PolicyViolation
from controller.state.tables.acl import AclOperation, AclResourceType

__all__ = [
    "AclOperation", "AclResourceType", "Action", "ConfigChange", "Decision", "NewTopic", "PolicyViolation", "Principal",
]  # fmt: skip
