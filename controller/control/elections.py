"""Elections that are asked for, or due from time to time: ElectLeaders, balancing, unclean ones (KIP-460, KIP-966)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from controller.leadership import Leadership
from controller.partition import NO_LEADER
from controller.partition_change import Election, Wish
from controller.results import ALL_PENDING, Result, check_record_count
from records.errors import ApiError, Error, error_text
from records.messages.reassignments import ElectLeadersResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.env import Env
    from controller.inputs import RequestContext
    from controller.state import State
    from controller.tables.topics import Topic
    from records.messages.reassignments import ElectLeadersRequest

    Records = list[tuple[Any, int]]

TopicResult = ElectLeadersResponse.ReplicaElectionResult
PartitionResult = TopicResult.PartitionResult

# How many partitions a run of a periodic task gives leaders to, before others have their turn.
ELECTIONS_MAX = 1000

ELECTION_TYPES = {0: Election.PREFERRED, 1: Election.UNCLEAN}
NOT_AVAILABLE = {
    Election.PREFERRED: Error.PREFERRED_LEADER_NOT_AVAILABLE,
    Election.UNCLEAN: Error.ELIGIBLE_LEADERS_NOT_AVAILABLE,
}


def idle(request: ElectLeadersRequest) -> ElectLeadersResponse | None:
    """The answer to a request that names no partition; None for others."""
    if request.topic_partitions is None or request.topic_partitions:
        return None
    return ElectLeadersResponse(throttle_time_ms=0, error_code=Error.NONE, replica_election_results=())


def elect_leaders(state: State, _context: RequestContext, request: ElectLeadersRequest, env: Env) -> Result:
    """ElectLeaders: of the partitions named, or of all; an unclean election asks no topic whether it allows one."""
    election = ELECTION_TYPES.get(request.election_type)
    if election is None:
        raise ApiError(Error.INVALID_REQUEST, f"Unknown election type {request.election_type}")
    run = _Run(Leadership(state, env), election)
    if request.topic_partitions is None:
        topics = [run.topic(name, state.topic(name), None) for name in state.topic_ids]
        rests_on = ALL_PENDING
    else:
        asked_topics = request.topic_partitions
        topics = [run.topic(asked.topic, state.topic(asked.topic), asked.partitions) for asked in asked_topics]
        rests_on = max(state.topic_ids.last_change(), state.partitions.last_change(), state.brokers.last_change())
    response = ElectLeadersResponse(throttle_time_ms=0, error_code=Error.NONE, replica_election_results=tuple(topics))
    return Result(response, run.records, rests_on, atomic=False)


class _Run:
    """Elections of one kind. records: what they write."""

    __slots__ = ("election", "leadership", "records")

    def __init__(self, leadership: Leadership, election: Election) -> None:
        self.leadership = leadership
        self.election = election
        self.records: Records = []

    def topic(self, name: str, topic: Topic | None, partition_ids: Iterable[int] | None) -> TopicResult:
        """The answer for a topic. With None for the partitions it is for all, but those that need no election."""
        results = []
        asked = topic.partition_ids() if partition_ids is None and topic is not None else partition_ids or ()
        for partition_id in asked:
            error, text = self.elect(name, topic, partition_id)
            if partition_ids is not None or error != Error.ELECTION_NOT_NEEDED:
                results.append(PartitionResult(partition_id=partition_id, error_code=error, error_message=text))
        return TopicResult(topic=name, partition_result=tuple(results))

    def elect(self, name: str, topic: Topic | None, partition_id: int) -> tuple[Error, str | None]:
        """Elect for one partition: the error, and the text beside it.

        Raises ApiError(POLICY_VIOLATION) where that is one too many.
        """
        if topic is None:
            return Error.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}"
        partition = self.leadership.find(topic, partition_id)
        if partition is None:
            return Error.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{partition_id}"
        is_led_well = (
            partition.leader == partition.preferred_leader
            if self.election == Election.PREFERRED
            else partition.leader != NO_LEADER
        )
        if is_led_well:
            return Error.ELECTION_NOT_NEEDED, error_text(Error.ELECTION_NOT_NEEDED)
        change = self.leadership.change(topic, partition_id, Wish(election=self.election))
        if change is None:
            error = NOT_AVAILABLE[self.election]
            return error, error_text(error)
        self.records.append(change)
        check_record_count(len(self.records))
        return Error.NONE, None


def balance_leaders(state: State, env: Env) -> Result:
    """Give partitions back to their preferred leaders, where these can lead (KIP-460)."""
    run = _Run(Leadership(state, env), Election.PREFERRED)
    return _periodic(state, run, state.partitions.imbalanced().tolist())


def elect_uncleanly(state: State, env: Env) -> Result:
    """Give leaders to partitions that have none, where their topic allows any replica."""
    run = _Run(Leadership(state, env), Election.UNCLEAN)
    partitions = state.partitions
    rows = (row for row in partitions.leaderless().tolist() if run.leadership.allows_unclean(partitions.topic_at(row)))
    return _periodic(state, run, rows)


def _periodic(state: State, run: _Run, rows: Iterable[int]) -> Result:
    for _ in islice(_elections(state, run, rows), ELECTIONS_MAX):
        pass
    return Result(None, run.records, atomic=False, again=len(run.records) >= ELECTIONS_MAX)


def _elections(state: State, run: _Run, rows: Iterable[int]) -> Iterator[None]:
    """Step once for each record."""
    partitions = state.partitions
    for row in rows:
        count = len(run.records)
        topic = partitions.topic_at(row)
        run.elect(topic.name, topic, partitions.partition_id_at(row))
        if len(run.records) > count:
            yield
