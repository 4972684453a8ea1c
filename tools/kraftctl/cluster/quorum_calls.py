"""Requests of verbs to a quorum (registered controllers, features, changes), and which of its replicas are alive."""

from __future__ import annotations

import time
from typing import NamedTuple

from records.errors import ApiError, Error, error_name
from records.messages.versions import ApiVersionsRequest
from records.wire import DecodeError, EncodeError
from tools.client.connection import Connection
from tools.client.quorum import NoLeader, describe_cluster_request, look
from tools.kraftctl.cluster.status import leader_now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address, Member, View
    from tools.kraftctl.points.places import Place

KRAFT_VERSION = "kraft.version"
ASK_S = 5.0
# A follower fetches at least every 500 ms, also where nothing is written.
OBSERVE_S = 3.0
# A leader answers a Fetch up to 500 ms later, and notes that time also for a node that has ended meanwhile.
PARKED_MS = 700
_POLL_S = 0.2
Key = tuple[int, str]


class Features(NamedTuple):
    """What a node supports, name -> least and greatest level, and the levels of the cluster as it knows them.

    apis: the API keys that it serves, with their versions.
    """

    supported: dict[str, tuple[int, int]]
    finalized: dict[str, int]
    apis: dict[int, tuple[int, int]]


class Quorum:
    """A live quorum, asked over a new connection for each request, as its leader may change."""

    def __init__(self, addresses: list[Address], client_id: str, security: ClientSecurity | None) -> None:
        self._addresses = addresses
        self._client_id = client_id
        self._security = security

    def look(self) -> View:
        """The leader's view. Raises NoLeader."""
        try:
            view = look(self._addresses, self._client_id, security=self._security)
        except NoLeader as error:
            raise NoLeader(f"no leader: {error}") from None
        # A later look begins at the leader; the others stay known.
        self._addresses = list(dict.fromkeys([view.address, *self._addresses]))
        return view

    @property
    def place(self) -> Place:
        """The quorum as a place whose metadata is read."""
        from tools.kraftctl.points.places import Place

        return Place(addresses=tuple(self._addresses), security=self._security)

    def ask(self, address: Address, request: Any, seconds: float = ASK_S) -> Any:
        """The response of a node. Raises OSError, also for an answer that cannot be read or an unknown API."""
        try:
            with Connection(*address, self._client_id, seconds, self._security) as connection:
                return connection.ask(request)
        except (ApiError, DecodeError, EncodeError) as error:
            host, port = address
            raise OSError(f"{host}:{port}: {error}") from None

    def controllers(self, view: View) -> dict[int, Address]:
        """The registered controllers, and where they listen. Raises OSError."""
        answer = self.ask(view.address, describe_cluster_request())
        if answer.error_code:
            raise OSError(refusal("DescribeCluster", answer))
        return {node.broker_id: (node.host, node.port) for node in answer.brokers}

    def features(self, address: Address) -> Features:
        """The levels of the features that a node supports. Raises OSError where it does not answer."""
        request = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
        answer = self.ask(address, request)
        return Features(
            {each.name: (each.min_version, each.max_version) for each in answer.supported_features},
            {each.name: each.max_version_level for each in answer.finalized_features},
            {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys},
        )


def refusal(api: str, answer: Any) -> str:
    """The error of a response, with the node's words."""
    text = f": {answer.error_message}" if answer.error_message else ""
    return f"{api} is refused with {error_name(answer.error_code)}{text}"


def may_pass(code: int) -> bool:
    """Whether a change that was refused with this error may succeed later, at the same leader or the next."""
    return code in {
        Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER, Error.REQUEST_TIMED_OUT, Error.BROKER_NOT_AVAILABLE,
        Error.NETWORK_EXCEPTION,
    }  # fmt: skip


class Seen(NamedTuple):
    """A quorum that was observed for some seconds. view: the last one.

    alive: the replicas that fetched meanwhile, and the leader. goal: the high watermark at the begin; a replica whose
    log reaches it has caught up.
    """

    view: View
    alive: frozenset[Key]
    goal: int

    def is_alive(self, member: Member) -> bool:
        return key_of(member) in self.alive

    def is_caught_up(self, member: Member) -> bool:
        """Whether it is alive, and has all records that were committed at the begin."""
        is_leader = member.id == self.view.leader_id and member.id in self.view.voters
        return self.is_alive(member) and (is_leader or member.end_offset >= self.goal)


def key_of(member: Member) -> Key:
    return member.id, member.directory_id


def observe(take: Callable[[], View], seconds: float = OBSERVE_S) -> Seen:
    """Look again and again, until every voter and observer has fetched or the time is over.

    A leader reports the last fetch of a voter that is down, and a new leader knows none; so only a fetch that is
    PARKED_MS later than the first view of the same leader counts. Raises what `take` raises.
    """
    first = take()
    end = time.monotonic() + seconds
    while True:
        view = take()
        if (view.leader_id, view.epoch) != (first.leader_id, first.epoch):
            first, end = view, time.monotonic() + seconds
        seen = compare_views(first, view)
        if len(seen.alive) == len(_replicas(view)) or time.monotonic() >= end:
            return seen
        time.sleep(_POLL_S)


def compare_views(first: View, last: View) -> Seen:
    """What two views of the same leader say together."""
    since_ms = _time_of(first) + PARKED_MS
    alive = {key_of(member) for member in _replicas(last) if member.last_fetch_ms > since_ms}
    if last.leader_id in last.voters:
        alive.add(key_of(last.voters[last.leader_id]))
    return Seen(last, frozenset(alive), first.high_watermark)


def _time_of(view: View) -> int:
    """The leader's clock when it answered, in ms; of a leader that is no voter, the last fetch that it knows."""
    now_ms = leader_now_ms(view)
    return now_ms if now_ms >= 0 else max((member.last_fetch_ms for member in _replicas(view)), default=-1)


def _replicas(view: View) -> list[Member]:
    return [*view.voters.values(), *view.all_observers]
