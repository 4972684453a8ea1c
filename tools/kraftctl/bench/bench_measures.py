"""What `kraftctl bench` measures: each function asks nodes over its own connections and returns times in ms.

Nothing is written to the metadata log.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from records.errors import ApiError, Error, error_name
from records.messages.configs import DescribeConfigsRequest
from records.messages.topics import CreateTopicsRequest
from records.messages.versions import ApiVersionsRequest
from records.resource_types import ResourceType
from tools.client.connection import Connection
from tools.client.quorum import describe_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address

CLIENT_ID = "kraftctl-bench"
ASK_S = 5.0
ASK_MS = 5000
# The source of a config that is not set.
DEFAULT = 5
# Between two requests that watch the commits: the quorum is asked at most this often.
WATCH_S = 0.001
# A few answers above the limit are a pause of a node; the median of this many means that the node is overloaded.
OVERLOAD_SAMPLES = 20
# Beside the ids of voters.
COMMIT = -1


class NotMeasured(Exception):
    """A measurement could not be made; the text is one line that says why."""


class Target(NamedTuple):
    """Where to connect. security: None for PLAINTEXT."""

    address: Address
    security: ClientSecurity | None

    def connect(self) -> Connection:
        """A connection to the target. Raises OSError where there is none."""
        return Connection(*self.address, CLIENT_ID, ASK_S, self.security)


def round_trips(target: Target, count: int) -> list[float]:
    """The times of ApiVersions, which a node answers without the controller. Raises OSError, ApiError, DecodeError."""
    request = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
    with target.connect() as connection:
        connection.ask(request)
        return [time_call(lambda: connection.ask(request))[0] for _ in range(count)]


def time_call(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long a call took, in ms, and what it returned."""
    begin = time.perf_counter()
    result = work()
    return (time.perf_counter() - begin) * 1000, result


def configs(target: Target, node_id: int, names: tuple[str, ...]) -> dict[str, str]:
    """The configs that are set on a node. One with its default, or that the node does not describe, is missing."""
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=ResourceType.BROKER, resource_name=str(node_id), configuration_keys=names
    )
    with target.connect() as connection:
        try:
            answer = connection.ask(DescribeConfigsRequest(resources=(resource,)))
        except ApiError:
            return {}
    entries = (entry for result in answer.results for entry in result.configs)
    return {
        str(entry.name): str(entry.value)
        for entry in entries
        if entry.value is not None and entry.config_source != DEFAULT
    }


class Commits(NamedTuple):
    """What the leader's answers showed over some seconds.

    seconds: for how long. answers: how many. committed: for each advance of the high watermark the longest time that
    its commit can have taken. fetched: by voter, the same for its fetch. apart: the times between two advances.
    clock: how far the leader's clock is ahead of this machine's, and by how much that may be wrong; None if unknown.
    """

    seconds: float
    answers: int
    committed: list[float]
    fetched: dict[int, list[float]]
    apart: list[float]
    clock: tuple[float, float] | None


class _Watch:
    """Takes the leader's responses.

    They do not say when a record was appended: it was after the request before the one that shows it was sent.
    """

    def __init__(self, leader_id: int) -> None:
        self.leader_id = leader_id
        self.committed: list[float] = []
        self.fetched: dict[int, list[float]] = {}
        self.apart: list[float] = []
        self.clock: tuple[float, float] | None = None
        self.answers = 0
        # Each end of the leader's log, with the time before which it cannot have been there.
        self._appends: list[tuple[int, float]] = []
        # By voter (and for the high watermark): how many of these ends it has reached.
        self._reached: dict[int, int] = {}
        self._end_offset = -1
        self._asked_before = 0.0
        self._watermark = -1
        self._advanced: float | None = None

    def take(self, state: Any, asked: float, now: float, wall_s: float) -> None:
        """An answer. asked, now: when the request was sent and answered; wall_s: the wall clock at `asked`."""
        self.answers += 1
        voters = {voter.replica_id: voter for voter in state.current_voters}
        leader = voters.pop(self.leader_id, None)
        end_offset = state.high_watermark if leader is None else leader.log_end_offset
        if end_offset > self._end_offset:
            if self._end_offset >= 0:
                self._appends.append((end_offset, self._asked_before))
            self._end_offset = end_offset
        self._asked_before = asked
        self.committed += self._times(COMMIT, state.high_watermark, now)
        for number, voter in voters.items():
            self.fetched.setdefault(number, []).extend(self._times(number, voter.log_end_offset, now))
        if state.high_watermark > self._watermark:
            if self._advanced is not None:
                self.apart.append((now - self._advanced) * 1000)
            self._advanced = None if self._watermark < 0 else now
            self._watermark = state.high_watermark
        if leader is not None and leader.last_caught_up_timestamp > 0:
            self.clock = _closer(self.clock, leader.last_caught_up_timestamp, wall_s * 1000, (now - asked) * 1000)

    def _times(self, who: int, offset: int, now: float) -> list[float]:
        """How long the appends took that it has newly reached, in ms."""
        begin = end = self._reached.get(who, 0)
        while end < len(self._appends) and self._appends[end][0] <= offset:
            end += 1
        self._reached[who] = end
        return [(now - at) * 1000 for _, at in self._appends[begin:end]]


def watch_commits(target: Target, leader_id: int, seconds: float, progress: Callable[[], None]) -> Commits:
    """Send DescribeQuorum to the leader again and again; nothing is written for the measurement.

    A leader without work writes a NoOpRecord each `metadata.max.idle.interval.ms` (KIP-835). Each append is seen in the
    leader's end offset, then in the voters' offsets and the high watermark; the times are upper bounds, with an error
    of one request. Raises NotMeasured if it no longer leads; OSError, ApiError, DecodeError.
    """
    watch = _Watch(leader_id)
    with target.connect() as connection:
        end = time.perf_counter() + seconds
        while True:
            wall_s, asked = time.time(), time.perf_counter()
            state = _partition(connection.ask(describe_request()))
            now = time.perf_counter()
            watch.take(state, asked, now, wall_s)
            progress()
            if now >= end:
                return Commits(seconds, watch.answers, watch.committed, watch.fetched, watch.apart, watch.clock)
            time.sleep(WATCH_S)


def _closer(known: tuple[float, float] | None, theirs_ms: int, asked_ms: float, took_ms: float) -> tuple[float, float]:
    """The better of two estimates of the clock's offset: an answer has whole ms, of a time within that taken."""
    new = (theirs_ms + 0.5 - (asked_ms + took_ms / 2), took_ms / 2 + 1.0)
    return new if known is None or new[1] < known[1] else known


def _partition(answer: Any) -> Any:
    """The metadata partition of a response to DescribeQuorum. Raises NotMeasured if the response has an error."""
    partitions = [partition for topic in answer.topics for partition in topic.partitions]
    code = answer.error_code or (partitions[0].error_code if partitions else Error.UNKNOWN_SERVER_ERROR)
    if code:
        raise NotMeasured(f"DescribeQuorum failed with {error_name(code)}; if the leader changed, measure again")
    return partitions[0]


class Load(NamedTuple):
    """The times of the answered requests, in ms, and for how many s. stopped: why before the time, empty if not."""

    times: list[float]
    seconds: float
    stopped: str


def validate_topics(
    target: Target, name: str, connections: int, seconds: float, limit_ms: float, progress: Callable[[], None]
) -> Load:
    """CreateTopics with validate_only from several connections, each one request at a time: nothing is created.

    Ends before its time when the median of the newest answers is above the limit. Raises NotMeasured, OSError,
    ApiError, DecodeError.
    """
    import threading

    times: list[float] = []
    stopped: list[str] = []
    failed: list[Exception] = []
    opened = [target.connect() for _ in range(connections)]
    begin = time.perf_counter()
    end = begin + seconds

    def work(connection: Connection) -> None:
        try:
            while time.perf_counter() < end and not stopped and not failed:
                taken, answer = time_call(lambda: connection.ask(create_topic(name, validate_only=True)))
                check_served(answer.topics[0].error_code)
                times.append(taken)
                newest = sorted(times[-OVERLOAD_SAMPLES:])
                if len(newest) == OVERLOAD_SAMPLES and newest[OVERLOAD_SAMPLES // 2] > limit_ms:
                    stopped.append(f"the median of {OVERLOAD_SAMPLES} answers was above {limit_ms:g} ms")
        except Exception as error:  # raised again where the threads are awaited
            failed.append(error)

    threads = [threading.Thread(target=work, args=(connection,), daemon=True) for connection in opened]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                progress()
    finally:
        end = 0.0  # after Ctrl-C, the threads end with their request
        for connection in opened:
            connection.socket.close()
    if failed:
        raise failed[0]
    return Load(times, time.perf_counter() - begin, stopped[0] if stopped else "")


def create_topic(name: str, *, validate_only: bool) -> CreateTopicsRequest:
    """A request for a topic of one partition with one replica."""
    topic = CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=(), configs=()
    )
    return CreateTopicsRequest(topics=(topic,), timeout_ms=ASK_MS, validate_only=validate_only)


def check_served(code: int) -> None:
    """Check an error code. Raises NotMeasured if the request was refused before it was validated: its time says nothing
    of CreateTopics.
    """
    if code == Error.NOT_CONTROLLER:
        raise NotMeasured("the active controller changed during the measurement; measure again")
    if code in (Error.TOPIC_AUTHORIZATION_FAILED, Error.CLUSTER_AUTHORIZATION_FAILED):
        raise NotMeasured(
            f"CreateTopics is refused with {error_name(code)}: --command-config needs a user who may CREATE on the "
            f"cluster, and DELETE the scratch topic"
        )
