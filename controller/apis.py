"""Which function serves which API, in which versions, and who may call it: one row an API.

What all rows share (who is active, waiting for the commit, deadlines, Envelope) is done around the row, in
`controller.controller`. A row stands here when its API is announced in ApiVersions, and only then.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.quorum import DescribeQuorumRequest
from records.schema import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.env import Env
    from controller.inputs import RequestContext
    from controller.results import Result
    from controller.state import State

    Handler = Callable[[State, RequestContext, Any, Env], Result]


class Kind(Enum):
    """How an API is served.

    WRITE: by the active controller alone, which sees what is not yet committed. READ: by any controller; a standby
    answers from what is committed, the active one confirms first that it is. LOCAL: by any controller, of itself, at
    once. RAFT: by the quorum (`raft`), never here.
    """

    WRITE = "write"
    READ = "read"
    LOCAL = "local"
    RAFT = "raft"


class Operation(IntEnum):
    """What an ACL allows, by Kafka's codes (KIP-11)."""

    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11


@dataclass(slots=True, frozen=True)
class Api:
    """One row. versions: announced, inclusive, those of Kafka 4.3.

    handler: None for the quorum's. needs: the operation on the cluster that a caller must be allowed; None where it
    depends on what is named in the request, or nothing is needed. forwardable: whether a broker may send it in an
    Envelope. deadline: how many ms a request may wait before it is begun; None where it may wait for ever.
    """

    request: type[Any]
    versions: tuple[int, int]
    kind: Kind
    handler: Handler | None
    needs: Operation | None = None
    forwardable: bool = False
    deadline: Callable[[Any, Env], int] | None = None

    @property
    def api_key(self) -> int:
        key = schema_of(self.request).api_key
        assert key is not None
        return key


def table(*rows: Api) -> dict[int, Api]:
    """The rows by API key."""
    return {row.api_key: row for row in rows}


CREATE, DELETE, ALTER = Operation.CREATE, Operation.DELETE, Operation.ALTER
DESCRIBE, CLUSTER_ACTION = Operation.DESCRIBE, Operation.CLUSTER_ACTION
WRITE, READ, LOCAL, RAFT = Kind.WRITE, Kind.READ, Kind.LOCAL, Kind.RAFT


# fmt: off
APIS = table(
    #   request                  versions kind   handler  needs
    Api(FetchRequest,            (4, 18), RAFT,  None,    CLUSTER_ACTION),
    Api(FetchSnapshotRequest,    (0, 1),  RAFT,  None,    CLUSTER_ACTION),
    Api(VoteRequest,             (0, 2),  RAFT,  None,    CLUSTER_ACTION),
    Api(BeginQuorumEpochRequest, (0, 1),  RAFT,  None,    CLUSTER_ACTION),
    Api(EndQuorumEpochRequest,   (0, 1),  RAFT,  None,    CLUSTER_ACTION),
    Api(DescribeQuorumRequest,   (0, 2),  RAFT,  None,    DESCRIBE, forwardable=True),
)
# fmt: on
