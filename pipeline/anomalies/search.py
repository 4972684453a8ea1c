"""The search for anomalies in the tables: Spark SQL queries the rows that each definition needs, its module evaluates
them.

The tables are temp views by their names, as `pipeline.report.gather` makes them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pipeline.anomalies.flapping import Fall, flapping, is_fall
from pipeline.anomalies.ghosts import VoterSet, ghosts
from pipeline.anomalies.storms import SPAN_MS, Drops, storms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.anomalies.anomaly import Anomaly, ClusterFacts

_SESSION_ENDS = """
select cluster, broker, state, end_reason, unix_millis(end_time) time_ms
from broker_sessions where end_offset is not null and state = 'active'
"""

# A replica that left an ISR while its broker was active, but not because a reassignment completed.
_DROPS = """
select i.cluster, unix_millis(i.time) div {span} * {span} start_ms, s.broker, count(*) drops
from (select c.cluster, c.`offset`, c.time, explode(shrunk) broker
      from isr_changes c left anti join reassignments r
        on c.cluster = r.cluster and c.topic_id = r.topic_id and c.`partition` = r.`partition`
        and c.`offset` = r.end_offset
      where size(shrunk) > 0) i
join (select cluster, broker, start_offset, coalesce(end_offset, 9223372036854775807) end_offset
      from broker_sessions where state = 'active') s
  on i.cluster = s.cluster and i.broker = s.broker and i.`offset` > s.start_offset and i.`offset` < s.end_offset
group by 1, 2, 3
"""

_ELECTIONS = "select cluster, `offset`, unix_millis(time) time_ms, leader, voters, granting from elections"

_VOTERS = """
select cluster, `offset`, unix_millis(time) time_ms, json from records
where kind = 'control' and name = 'KRAFT_VOTERS' and json is not null
"""

_CONTROLLERS = """
select distinct cluster, cast(get_json_object(json, '$.controllerId') as int) controller from records
where kind = 'record' and type = 27
"""


def search(session: Any, clusters: Mapping[str, ClusterFacts]) -> list[Anomaly]:
    """All anomalies of all clusters, the newest first."""
    anomalies = [
        *flapping(
            Fall(row.cluster, row.broker, row.time_ms, row.end_reason)
            for row in session.sql(_SESSION_ENDS).collect()
            if is_fall(row.state, row.end_reason)
        ),
        *storms(
            (Drops(*row) for row in session.sql(_DROPS.format(span=SPAN_MS)).collect()),
            {name: one.partitions for name, one in clusters.items()},
        ),
        *ghosts(
            [*_elections(session), *_voter_sets(session)],
            _registered_controllers(session),
            {name: one.last_ms for name, one in clusters.items()},
        ),
    ]
    return sorted(anomalies, key=lambda one: (-one.start_ms, one))


def _elections(session: Any) -> list[VoterSet]:
    return [
        VoterSet(
            row.cluster, row.offset, row.time_ms, frozenset(row.voters), frozenset([*(row.granting or ()), row.leader])
        )
        for row in session.sql(_ELECTIONS).collect()
    ]


def _voter_sets(session: Any) -> list[VoterSet]:
    """The voter sets in the log itself (KIP-853)."""
    return [
        VoterSet(
            row.cluster, row.offset, row.time_ms, frozenset(one["voterId"] for one in json.loads(row.json)["voters"])
        )
        for row in session.sql(_VOTERS).collect()
    ]


def _registered_controllers(session: Any) -> dict[str, set[int]]:
    by_cluster: dict[str, set[int]] = {}
    for row in session.sql(_CONTROLLERS).collect():
        by_cluster.setdefault(row.cluster, set()).add(row.controller)
    return by_cluster
