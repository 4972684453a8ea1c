"""Long requests: one at a time, those of brokers first and then the principals in turn, and while others send requests
none so soon that these get less than half of the loop, or three quarters where long ones are very large.

A request is long if its frame is large, or if it asks for much in few bytes. Its bytes are decoded, and its answer is
encoded, on a thread of its own (`controller.node.long_thread`), beside the loop: neither needs the state. In between
the controller serves it in slices, between which the loop does all other work (`controller.core.long_steps`).
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.core.apis import APIS, CLUSTER_ACTION, Kind
from controller.core.long_steps import BROKER_HEARTBEAT
from controller.node.request_parts import ALTER_PARTITION

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, TimerHandle
    from collections.abc import Callable

    from controller.core.apis import Api
    from controller.node.long_thread import Executor
    from controller.state.state import State

# Frames of this size are long requests. Smaller ones, of some 100 names, take at most some 3 ms.
FRAME_BYTES_MIN = 2 << 10
# Those of brokers that may be large, AlterPartition and AssignReplicasToDirs, from this size on: 150 to 200 partitions,
# which take some 5 ms.
OF_BROKERS = frozenset({ALTER_PARTITION, 73})
BROKER_FRAME_BYTES_MIN = 8 << 10
# So are smaller ones of users that ask for so many entries.
ENTRIES_MIN = 200
# The bytes of the frames that wait. Above it the principal that has most of them loses the last one's connection.
WAITING_BYTES_MAX = 64 << 20
# Of brokers' ones, which do not count among those.
BROKERS_WAITING_BYTES_MAX = 64 << 20
# How many s no long request is begun for each that the last one took.
REST_RATIO = 1.0
# The same for what it took above `LARGE_S`: each of these holds other writes while its records are replayed, here and
# on every standby, so that nearly every write would wait for one of them if they came closer together.
LARGE_REST_RATIO = 3.0
LARGE_S = 0.05
# No rest follows a request that took less, s: others hardly noticed it, and a client that creates topics by the hundred
# would need twice as long.
REST_FROM_S = 0.02
# Nor is there a rest where nothing of others came for so long, s, nor since the request was begun: there is nobody to
# leave the loop to.
OTHERS_S = 1.0
SHARE_WINDOW_S = 60.0
# A shorter wait than the clock's resolution would end before its time has come, again and again.
WAIT_S_MIN = 0.001
# The principals whose last turn is kept. The oldest turn is dropped first: its principal comes next without it, too.
TURNS_MAX = 1000
# The name under which the requests of all brokers wait.
BROKERS = "brokers"


class Waiting(NamedTuple):
    """A request that waits. principal: whose turn it needs, BROKERS for a broker's own; size: the bytes of its frame;
    begin: starts its job on the thread; drop: closes its connection, with a reason. goes_on: whether it was begun, and
    comes before others of its principal, so that few are in memory decoded.
    """

    principal: str
    connection: int
    size: int
    begin: Callable[[], None]
    drop: Callable[[str], None]
    goes_on: bool = False


def may_be_long(api: Api) -> bool:
    """Whether requests of an API are long if they are large: all but those of the quorum, those of brokers that are
    never large, and those that a node answers by itself.
    """
    return api.kind in (Kind.READ, Kind.WRITE) and (api.needs is not CLUSTER_ACTION or api.api_key in OF_BROKERS)


# The requests of the quorum wait for no others, and those by which brokers stay in the cluster for these alone.
URGENT_APIS = frozenset(key for key, api in APIS.items() if api.kind is Kind.RAFT and api.needs is CLUSTER_ACTION)
PROMPT_APIS = frozenset({BROKER_HEARTBEAT})
_LONG_APIS = frozenset(key for key, api in APIS.items() if may_be_long(api))


def is_long(api_key: int, size: int) -> bool:
    """Whether a request is long by the size of its frame, in bytes."""
    return size >= (BROKER_FRAME_BYTES_MIN if api_key in OF_BROKERS else FRAME_BYTES_MIN) and api_key in _LONG_APIS


def asks_much(state: State, api: Api, request: Any) -> bool:
    """Whether a request is long though its frame is small: it names few things, and asks for much."""
    entries = _ENTRIES.get(api.api_key)
    return entries is not None and entries(state, request) >= ENTRIES_MIN


# API key -> how many entries the answer or the records have at most, of an API where the request does not show it.
_ENTRIES: dict[int, Callable[[State, Any], int]] = {
    19: lambda _state, request: sum(max(topic.num_partitions, 0) for topic in request.topics),  # CreateTopics
    29: lambda state, _request: len(state.acls),  # DescribeAcls
    31: lambda state, _request: len(state.acls),  # DeleteAcls
    37: lambda _state, request: sum(max(topic.count, 0) for topic in request.topics),  # CreatePartitions
    43: lambda state, request: len(state.topics) if request.topic_partitions is None else 0,  # ElectLeaders
    46: lambda state, request: len(state.topics) if request.topics is None else 0,  # ListPartitionReassignments
}


class LongRequests:
    """The requests that wait, and the one that is served.

    served: how many were; seconds: the time that they took, on the thread and of the loop.
    """

    def __init__(self, loop: AbstractEventLoop, executor: Executor) -> None:
        self.executor = executor
        self.served = 0
        self.seconds = 0.0
        self.rest_from_s = REST_FROM_S
        self._loop = loop
        # By principal, in order; a principal without requests has no entry, and so a connection.
        self._waiting: dict[str, OrderedDict[Waiting, None]] = {}
        self._of_connection: dict[int, list[Waiting]] = {}
        self._bytes: Counter[str] = Counter()  # of the frames that wait, by principal
        self._waiting_bytes = {True: 0, False: 0}  # of brokers, and of others
        self._answers: deque[Callable[[], None]] = deque()
        self._is_busy = False
        # When the next long request may begin, and when the next one of a broker, on the loop's clock.
        self._rests_until_s = self._brokers_rest_until_s = 0.0
        self._other_came_s = self._begun_s = -inf
        # The number of the last request of a principal that was begun, the oldest first.
        self._turns: dict[str, int] = {}
        self._timer: TimerHandle | None = None
        # What each principal took in this window and in the one before it, s.
        self._taken: dict[str, float] = {}
        self._taken_before: dict[str, float] = {}
        self._window_s = loop.time()
        self._is_closed = False

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def is_idle(self) -> bool:
        """Whether none is served and none waits."""
        return not (self._is_busy or self._waiting)

    @property
    def principals(self) -> int:
        """How many principals have requests that wait."""
        return len(self._waiting)

    def largest_share(self) -> float:
        """The share of the principal that took most, in the time of all, over the last one to two minutes; 0 to 1."""
        self._turn()
        taken: dict[str, float] = dict(self._taken_before)
        for name, seconds in self._taken.items():
            taken[name] = taken.get(name, 0.0) + seconds
        total = sum(taken.values())
        return max(taken.values()) / total if total else 0.0

    def _turn(self) -> None:
        now_s = self._loop.time()
        if now_s - self._window_s >= SHARE_WINDOW_S:
            self._taken_before, self._taken, self._window_s = self._taken, {}, now_s

    def on_other(self) -> None:
        """A request of others came: a short one that is no heartbeat, or one of a broker."""
        self._other_came_s = self._loop.time()

    def add(self, request: Waiting) -> None:
        """Serve a request when its turn comes."""
        name, of_brokers = request.principal, request.principal == BROKERS
        if of_brokers:
            self.on_other()
        requests = self._waiting.setdefault(name, OrderedDict())
        requests[request] = None
        requests.move_to_end(request, last=not request.goes_on)
        self._of_connection.setdefault(request.connection, []).append(request)
        self._bytes[name] += request.size
        self._waiting_bytes[of_brokers] += request.size
        bytes_max = BROKERS_WAITING_BYTES_MAX if of_brokers else WAITING_BYTES_MAX
        if self._waiting_bytes[of_brokers] > bytes_max:
            # A principal that has less than this one loses none.
            least = self._bytes[name]
            large = [each for each, held in self._bytes.items() if held >= least and (each == BROKERS) == of_brokers]
        while self._waiting_bytes[of_brokers] > bytes_max:
            largest = max(large, key=self._bytes.__getitem__)
            last = next(reversed(self._waiting[largest]))
            if last.size == self._waiting_bytes[of_brokers]:
                break  # one alone may be larger
            self._take(last)
            last.drop(f"the large requests that wait hold more than {bytes_max} bytes, most of them of its user")
        self._go_on()

    def add_answer(self, begin: Callable[[], None]) -> None:
        """Encode an answer: before the next request, since it frees what the request holds."""
        self._answers.append(begin)
        self._go_on()

    def drop(self, connection: int) -> None:
        """Drop what waits of a closed connection."""
        for request in list(self._of_connection.get(connection, ())):
            self._take(request)

    def on_done(self, principal: str, taken_s: float) -> None:
        """The present job has ended; it took this time, for which the next request waits where others noticed it. One
        of a broker waits so for those of brokers alone, however short they were.
        """
        self._is_busy = False
        self.seconds += taken_s
        self._turn()
        self._taken[principal] = self._taken.get(principal, 0.0) + taken_s
        now_s = self._loop.time()
        if principal == BROKERS:
            self._brokers_rest_until_s = max(self._brokers_rest_until_s, now_s) + taken_s * REST_RATIO
        if taken_s >= self.rest_from_s and self._other_came_s >= min(now_s - OTHERS_S, self._begun_s):
            rest_s = min(taken_s, LARGE_S) * REST_RATIO + max(taken_s - LARGE_S, 0.0) * LARGE_REST_RATIO
            self._rests_until_s = max(self._rests_until_s, now_s) + rest_s
        self._go_on()

    def close(self) -> None:
        self._is_closed = True
        for each in (self._waiting, self._of_connection, self._bytes, self._answers):
            each.clear()
        if self._timer is not None:
            self._timer.cancel()
        self.executor.close()

    def _take(self, request: Waiting) -> None:
        name = request.principal
        del self._waiting[name][request]
        self._bytes[name] -= request.size
        self._waiting_bytes[name == BROKERS] -= request.size
        if not self._waiting[name]:
            del self._waiting[name], self._bytes[name]
        self._of_connection[request.connection].remove(request)
        if not self._of_connection[request.connection]:
            del self._of_connection[request.connection]

    def _go_on(self) -> None:
        """Begin the next job if one may begin now, or when it may."""
        if self._is_busy or self._is_closed:
            return
        if self._answers:
            self._is_busy = True
            self._answers.popleft()()
            return
        if not self._waiting:
            return
        # While one of a broker waits, none of a user begins: else each of its parts would wait for one of them.
        is_for_broker = BROKERS in self._waiting
        rest_s = (self._brokers_rest_until_s if is_for_broker else self._rests_until_s) - self._loop.time()
        if rest_s > 0:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_later(max(rest_s, WAIT_S_MIN), self._go_on)
            return
        principal = BROKERS if is_for_broker else min(self._waiting, key=lambda name: self._turns.get(name, 0))
        request = next(iter(self._waiting[principal]))
        self._take(request)
        self._is_busy = True
        self._begun_s = self._loop.time()
        self.served += 1
        self._turns.pop(principal, None)
        self._turns[principal] = self.served
        if len(self._turns) > TURNS_MAX:
            del self._turns[next(iter(self._turns))]
        request.begin()
