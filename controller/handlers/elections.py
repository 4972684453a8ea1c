"""Elections of partition leaders: ElectLeaders, and the periodic preferred and unclean ones (KIP-460, KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from controller.interface.results import ALL_PENDING, Result, at_once
from controller.rules.bulk_elections import leader_and_isr_changes
from controller.rules.partition_change import Election
from controller.rules.topic_rules import topic_rules
from controller.state.partitions.partition import NO_LEADER
from controller.state.partitions.topics import NO_ROW
from records.errors import ApiError, Error, error_text
from records.messages.reassignments import ElectLeadersResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.interface.results import Item
    from controller.state.partitions.partitions import Rows
    from controller.state.state import State
    from records.messages.reassignments import ElectLeadersRequest

TopicResult = ElectLeadersResponse.ReplicaElectionResult
PartitionResult = TopicResult.PartitionResult

# The greatest number of partitions that one run of a periodic task elects leaders for.
ELECTIONS_MAX = 1000


class Outcome(NamedTuple):
    """The result for a partition: error and message."""

    error: Error
    text: str | None


def stock(error: Error) -> Outcome:
    return Outcome(error, error_text(error))


ELECTED = Outcome(Error.NONE, None)
NOT_NEEDED = stock(Error.ELECTION_NOT_NEEDED)
NOT_AVAILABLE = {
    Election.PREFERRED: stock(Error.PREFERRED_LEADER_NOT_AVAILABLE),
    Election.UNCLEAN: stock(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE),
}
ELECTION_TYPES = {0: Election.PREFERRED, 1: Election.UNCLEAN}

# A topic's name, and for each partition its id and its row, or the result if there is nothing to elect.
Asked = tuple[str, list[tuple[int, "int | Outcome"]]]


def idle(
    _state: State, _context: RequestContext, request: ElectLeadersRequest, _env: Env
) -> ElectLeadersResponse | None:
    """The answer to a request that names no partition; None for others."""
    if request.topic_partitions is None or request.topic_partitions:
        return None
    return ElectLeadersResponse(throttle_time_ms=0, error_code=Error.NONE, replica_election_results=())


def elect_leaders(state: State, context: RequestContext, request: ElectLeadersRequest, env: Env) -> Result:
    """ElectLeaders: for the named partitions, or all. An unclean election ignores what the topic's config allows."""
    nothing = idle(state, context, request, env)
    if nothing is not None:
        return at_once(nothing)
    election = ELECTION_TYPES.get(request.election_type)
    if election is None:
        raise ApiError(Error.INVALID_REQUEST, f"Unknown election type {request.election_type}")
    if request.topic_partitions is None:
        asked = of_all(state, election)
        rests_on = ALL_PENDING
    else:
        seen: set[int] = set()
        asked = []
        for each in request.topic_partitions:
            asked.append((each.topic, of_topic(state, env, election, each.topic, each.partitions, seen)))
        rests_on = max(state.topic_ids.last_change(), state.partitions.last_change(), state.brokers.last_change())
    rows = sorted(row for _, outcomes in asked for _, row in outcomes if not isinstance(row, Outcome))
    changes = leader_and_isr_changes(state, env, np.array(rows, np.intp), election=election)
    elected = {row for group in changes.groups for row in group.rows.tolist()}
    topics = tuple(topic_result(env, name, outcomes, elected, election) for name, outcomes in asked)
    response = ElectLeadersResponse(throttle_time_ms=0, error_code=Error.NONE, replica_election_results=topics)
    return Result(response, [changes] if len(changes) else [], rests_on, atomic=False)


def of_all(state: State, election: Election) -> list[Asked]:
    """Every topic, with those of its partitions that need an election."""
    partitions = state.partitions
    by_topic: dict[str, list[tuple[int, int | Outcome]]] = {name: [] for name in state.topic_ids}
    for row in needy(state, election).tolist():
        by_topic[partitions.topic_at(row).name].append((partitions.partition_id_at(row), row))
    return list(by_topic.items())


def needy(state: State, election: Election) -> Rows:
    """The partitions without their preferred leader, or, for an unclean election, without a leader."""
    return state.partitions.imbalanced_rows() if election == Election.PREFERRED else state.partitions.leaderless()


def of_topic(
    state: State, env: Env, election: Election, name: str, partition_ids: Iterable[int], seen: set[int]
) -> list[tuple[int, int | Outcome]]:
    """The requested partitions of a topic. seen: rows requested before, which need no second election."""
    topic = state.topic(name)
    outcomes: list[tuple[int, int | Outcome]] = []
    env.slices.pause()
    for partition_id in partition_ids:
        env.slices.pause()
        row = NO_ROW if topic is None else topic.row(partition_id)
        if topic is None:
            outcomes.append((partition_id, Outcome(Error.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")))
        elif row == NO_ROW:
            text = f"No such partition as {name}-{partition_id}"
            outcomes.append((partition_id, Outcome(Error.UNKNOWN_TOPIC_OR_PARTITION, text)))
        elif row in seen or is_led_well(state, election, row):
            outcomes.append((partition_id, NOT_NEEDED))
        else:
            seen.add(row)
            outcomes.append((partition_id, row))
    return outcomes


def is_led_well(state: State, election: Election, row: int) -> bool:
    partition = state.partitions.get(row)
    if election == Election.PREFERRED:
        return partition.leader == partition.preferred_leader
    return partition.leader != NO_LEADER


def topic_result(
    env: Env, name: str, outcomes: Sequence[tuple[int, int | Outcome]], elected: set[int], election: Election
) -> TopicResult:
    results = []
    for partition_id, row in outcomes:
        env.slices.pause()
        if isinstance(row, Outcome):
            error, text = row
        else:
            error, text = ELECTED if row in elected else NOT_AVAILABLE[election]
        results.append(PartitionResult(partition_id=partition_id, error_code=error, error_message=text))
    return TopicResult(topic=name, partition_result=tuple(results))


def balance_leaders(state: State, env: Env) -> Result:
    """Elect the preferred leaders of partitions, where they may lead (KIP-460)."""
    return some_elections(state, env, state.partitions.imbalanced_rows(), Election.PREFERRED)


def elect_uncleanly(state: State, env: Env) -> Result:
    """Elect leaders for partitions without one, where the topic allows unclean elections."""
    rows = state.partitions.leaderless()
    _, allows_unclean = topic_rules(state, env, rows)
    return some_elections(state, env, rows[allows_unclean], Election.UNCLEAN)


def some_elections(state: State, env: Env, rows: Rows, election: Election) -> Result:
    """Elections for the first of the rows, as many as one run may have."""
    items: list[Item] = []
    count = at = 0
    while at < len(rows) and count < ELECTIONS_MAX:
        until = at + ELECTIONS_MAX - count
        changes = leader_and_isr_changes(state, env, rows[at:until], election=election)
        if len(changes):
            items.append(changes)
            count += len(changes)
        at = until
    return Result(None, items, atomic=False, again=count >= ELECTIONS_MAX)
