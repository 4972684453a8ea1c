"""Queries the tables for the contents of the report: one query of Spark SQL for each kind of rows.

Spark aggregates, on any cluster; the results are as small as the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pipeline.anomalies.anomaly import ClusterFacts
from pipeline.anomalies.search import search
from pipeline.report.figures import (
    MOMENT_LENGTHS_MS,
    MOMENTS,
    BrokerFacts,
    ConfigChange,
    ControllerFailover,
    Failover,
    FailoverTimes,
    Figures,
    Moment,
    TopicChurn,
    TopicOutages,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Rows = TypeVar("Rows", bound=NamedTuple)

TABLES = (
    "records", "leadership", "isr_changes", "unavailability", "reassignments", "broker_sessions", "elections",
    "config_changes",
)  # fmt: skip
# The state of the partitions after the last ingested record; the columns are those of `image_at`.
PARTITIONS = "partitions"

_ROWS_MAX = 25

_ENDS = """
create or replace temp view ends as
select cluster, unix_millis(min(time)) first_ms, unix_millis(max(time)) last_ms, max(time) last_time,
       count_if(kind in ('record', 'control')) records, count_if(kind not in ('record', 'control')) problems
from records where cluster is not null and (time is not null or kind not in ('record', 'control')) group by cluster
having max(time) is not null
"""

_CLUSTERS = """
select e.cluster, first_ms, last_ms, records, problems, coalesce(p.topics, 0) topics,
       coalesce(p.partitions, 0) partitions, coalesce(b.brokers, 0) brokers
from ends e
left join (select cluster, count(distinct topic_id) topics, count(*) partitions from partitions group by cluster) p
  on e.cluster = p.cluster
left join (select cluster, count(*) brokers from broker_sessions where end_offset is null group by cluster) b
  on e.cluster = b.cluster
order by e.cluster
"""

_OUTAGES = """
select u.cluster, coalesce(topic, topic_id) topic, count(*) outages, count(distinct `partition`) partitions,
       sum(ms) total_ms, max(ms) longest_ms, count_if(end_offset is null) lasting,
       count_if(coalesce(unclean, false)) unclean
from (select u.*, coalesce(duration_ms, last_ms - unix_millis(start_time)) ms
      from unavailability u join ends e on u.cluster = e.cluster) u
group by u.cluster, coalesce(topic, topic_id) order by total_ms desc, u.cluster, topic limit {rows}
"""

_CHURN = """
select cluster, coalesce(topic, topic_id) topic, count_if(changed) changes, count(distinct `partition`) partitions,
       count_if(changed and not preferred) unpreferred
from (select *, previous_leader is not null and leader >= 0 changed from leadership)
group by cluster, coalesce(topic, topic_id) order by changes desc, cluster, topic limit {rows}
"""

# As `moment_ms` has it for each cluster.
_LENGTHS = """
create or replace temp view lengths as
select cluster,
       coalesce(element_at(filter(array({lengths}), one -> last_ms - first_ms <= one * {moments}), 1), {longest}) length
from ends
"""

_MOMENTS = """
select h.cluster, time_ms div length * length start_ms, sum(change) changes, sum(outage) outages, sum(shrink) shrinks
from (
  select cluster, unix_millis(start_time) time_ms, 1 change, 0 outage, 0 shrink
  from leadership where previous_leader is not null and leader >= 0
  union all
  select cluster, unix_millis(start_time), 0, 1, 0 from unavailability
  union all
  select cluster, unix_millis(time), 0, 0, 1 from isr_changes where size(shrunk) > 0
) h join lengths l on h.cluster = l.cluster
group by 1, 2 order by 1, 2
"""

_FAILOVERS = """
select cluster, unix_millis(start_time) start_ms, last_leader, count(*) partitions, count(distinct topic_id) topics,
       min(coalesce(topic, topic_id)) topic, max(duration_ms) longest_ms, cast(avg(duration_ms) as bigint) mean_ms,
       count_if(coalesce(unclean, false)) unclean
from unavailability where end_reason = 'elected' and last_leader is not null
group by cluster, start_time, last_leader order by longest_ms desc, cluster, start_ms, last_leader limit {rows}
"""

_FAILOVER_TIMES = """
select cluster, cast(greatest(floor(log10(greatest(duration_ms, 1))), 0) as int) bucket, count(*) failovers
from unavailability where end_reason = 'elected' and last_leader is not null group by 1, 2 order by 1, 2
"""

_CONTROLLERS = """
select cluster, unix_millis(time) time_ms, epoch, previous_leader, leader, silence_ms
from elections where previous_leader is not null order by silence_ms desc nulls last, cluster, offset limit {rows}
"""

_BROKERS = """
select s.cluster, s.broker, s.rack, s.state, coalesce(l.leads, 0) leads, coalesce(r.replicas, 0) replicas,
       coalesce(t.led_ms, 0) led_ms, coalesce(f.fenced, 0) fenced, coalesce(f.fenced_ms, 0) fenced_ms
from (select * from broker_sessions where end_offset is null) s
left join (select cluster, leader, count(*) leads from partitions group by cluster, leader) l
  on s.cluster = l.cluster and s.broker = l.leader
left join (select cluster, replica, count(*) replicas
           from (select cluster, explode(replicas) replica from partitions) group by cluster, replica) r
  on s.cluster = r.cluster and s.broker = r.replica
left join (select p.cluster, leader, sum(coalesce(duration_ms, last_ms - unix_millis(start_time))) led_ms
           from leadership p join ends e on p.cluster = e.cluster group by p.cluster, leader) t
  on s.cluster = t.cluster and s.broker = t.leader
left join (select p.cluster, broker, count(*) fenced,
                  sum(coalesce(duration_ms, last_ms - unix_millis(start_time))) fenced_ms
           from broker_sessions p join ends e on p.cluster = e.cluster
           where state = 'fenced' group by p.cluster, broker) f
  on s.cluster = f.cluster and s.broker = f.broker
order by s.cluster, s.broker
"""

_CONFIGS = """
select cluster, unix_millis(time) time_ms, resource_type, resource, config, value_before before, value_after after
from config_changes order by time desc, cluster, offset desc limit {rows}
"""


def gather(session: Any, table: Callable[[str], Any], progress: Callable[[str], None] = lambda _line: None) -> Figures:
    """The contents of the report.

    table: gives each of TABLES, and PARTITIONS, as a DataFrame. progress: called with the name of each query.
    """
    for name in (*TABLES, PARTITIONS):
        table(name).createOrReplaceTempView(name)
    session.sql(_ENDS)
    lengths = ", ".join(f"{one}L" for one in MOMENT_LENGTHS_MS)
    session.sql(_LENGTHS.format(lengths=lengths, moments=MOMENTS, longest=f"{MOMENT_LENGTHS_MS[-1]}L"))
    progress("clusters")
    clusters = _ask(session, ClusterFacts, _CLUSTERS)
    figures: dict[str, Any] = {}
    for name, rows, query in (
        ("outages", TopicOutages, _OUTAGES),
        ("churn", TopicChurn, _CHURN),
        ("moments", Moment, _MOMENTS),
        ("failovers", Failover, _FAILOVERS),
        ("failover_times", FailoverTimes, _FAILOVER_TIMES),
        ("controllers", ControllerFailover, _CONTROLLERS),
        ("brokers", BrokerFacts, _BROKERS),
        ("configs", ConfigChange, _CONFIGS),
    ):
        progress(name.replace("_", " "))
        figures[name] = _ask(session, rows, query.format(rows=_ROWS_MAX))
    progress("anomalies")
    anomalies = search(session, {one.cluster: one for one in clusters})
    return Figures(
        until_ms=max((one.last_ms for one in clusters), default=0), clusters=clusters,
        anomalies=tuple(anomalies), **figures,
    )  # fmt: skip


def _ask(session: Any, kind: Callable[..., Rows], query: str) -> tuple[Rows, ...]:
    return tuple(kind(**row.asDict()) for row in session.sql(query).collect())
