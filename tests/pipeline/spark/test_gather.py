"""The contents of the report equal the tables; planted anomalies are found, and no others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.anomalies.anomaly import Anomaly, ClusterFacts
from pipeline.report.figures import (
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
from pipeline.report.gather import PARTITIONS, gather
from pipeline.schemas import BY_NAME
from pipeline.tables.partitions import STATE_COLUMNS

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
BEGIN_MS = int(BEGIN.timestamp() * 1000)
MINUTE = 60_000
NEVER: dict[str, Any] = {"end_offset": None, "end_time": None, "duration_ms": None, "end_reason": None}

Tables = dict[str, list[dict[str, Any]]]


def at(minutes: float) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


def interval(start: float, end: float | None = None, reason: str | None = None) -> dict[str, Any]:
    """From one minute to another; the offset of a minute is ten times it."""
    begin = {"start_offset": int(start * 10), "start_time": at(start)}
    if end is None:
        return begin | NEVER
    return begin | {
        "end_offset": int(end * 10), "end_time": at(end), "duration_ms": int((end - start) * MINUTE),
        "end_reason": reason,
    }  # fmt: skip


def partition(number: int, topic: str = "orders", cluster: str = "c") -> dict[str, Any]:
    return {"cluster": cluster, "topic_id": f"id-of-{topic}", "topic": topic, "partition": number}


def session_of(broker: int, state: str, **when: Any) -> dict[str, Any]:
    return {"cluster": "c", "broker": broker, "rack": f"rack-{broker}", "state": state, **when}


def election(minute: float, epoch: int, leader: int, granting: list[int], **more: Any) -> dict[str, Any]:
    return {
        "cluster": "c", "offset": int(minute * 10), "time": at(minute), "epoch": epoch, "leader": leader,
        "voters": [1, 2, 3], "granting": granting, **more,
    }  # fmt: skip


def record(minute: float, kind: str = "record", **more: Any) -> dict[str, Any]:
    return {"cluster": "c", "origin": "log", "offset": int(minute * 10), "time": at(minute), "kind": kind, **more}


def clean() -> Tables:
    """An hour of a cluster of three brokers: broker 2 was restarted in order, broker 3 was fenced once."""
    return {
        "records": [
            record(0), record(60), record(20, "gap"), *(
                record(1, type=27, json=f'{{"controllerId":{controller}}}') for controller in (1, 2, 3)
            ),
        ],
        "leadership": [
            partition(0) | {"leader": 1, "leader_epoch": 0, "preferred": True} | interval(0, 30, "elected"),
            partition(0) | {"leader": 2, "leader_epoch": 1, "previous_leader": 1, "preferred": False} | interval(30),
            partition(1) | {"leader": 3, "leader_epoch": 0, "preferred": True} | interval(0, 40, "elected"),
            partition(1) | {"leader": -1, "leader_epoch": 1, "previous_leader": 3, "preferred": False}
            | interval(40, 41, "elected"),
            partition(1) | {"leader": 3, "leader_epoch": 2, "previous_leader": -1, "preferred": True} | interval(41),
            partition(0, "clicks") | {"leader": 1, "leader_epoch": 0, "preferred": True} | interval(10),
        ],
        "unavailability": [
            partition(1) | {"last_leader": 3, "next_leader": 3, "unclean": False} | interval(40, 41, "elected"),
            partition(2) | {"last_leader": 3, "next_leader": 1, "unclean": True} | interval(40, 40.5, "elected"),
            partition(0, "clicks") | {"last_leader": 1} | interval(58),
        ],
        "isr_changes": [
            partition(1) | {"offset": 400, "time": at(40), "shrunk": [3], "grown": []},
            partition(1) | {"offset": 410, "time": at(41), "shrunk": [], "grown": [3]},
            *(partition(number) | {"offset": 205, "time": at(20), "shrunk": [1], "grown": []} for number in range(20)),
        ],
        "reassignments": [
            partition(number) | {"start_offset": 190, "end_offset": 205, "outcome": "completed"} for number in range(20)
        ],
        "broker_sessions": [
            session_of(1, "active", **interval(0)),
            session_of(2, "active", **interval(0, 29, "shutdown")),
            session_of(2, "shutting_down", **interval(29, 29.5, "fenced")),
            session_of(2, "fenced", **interval(29.5, 29.6, "registered")),
            session_of(2, "active", **interval(29.6)),
            session_of(3, "active", **interval(0, 40, "fenced")),
            session_of(3, "fenced", **interval(40)),
        ],
        "elections": [
            election(0, 1, 1, [1, 2]),
            election(50, 2, 2, [2, 3], previous_epoch=1, previous_leader=1, silence_ms=1200),
        ],
        "config_changes": [
            {"cluster": "c", "offset": 5, "time": at(0.5), "resource_type": "TOPIC", "resource": "orders",
             "config": "retention.ms", "value_before": "1", "value_after": "2", "sensitive": False, "cause": "set"},
        ],
        PARTITIONS: [
            partition(0) | {"leader": 2, "replicas": [1, 2]},
            partition(1) | {"leader": 3, "replicas": [3, 1]},
            partition(0, "clicks") | {"leader": -1, "replicas": [1]},
        ],
    }  # fmt: skip


def gathered(spark: Any, tables: Tables) -> Figures:
    def table(name: str) -> Any:
        columns = STATE_COLUMNS if name == PARTITIONS else BY_NAME[name].columns
        ddl = ", ".join(f"`{column.name}` {column.type}" for column in columns)
        rows = [tuple(row.get(column.name) for column in columns) for row in tables.get(name, [])]
        assert all({*row} <= {column.name for column in columns} for row in tables.get(name, []))
        return spark.createDataFrame(rows, ddl)

    return gather(spark, table)


def test_the_figures_equal_the_tables(spark: Any) -> None:
    found = gathered(spark, clean())

    minute = [BEGIN_MS + number * MINUTE for number in range(61)]
    assert found == Figures(
        until_ms=minute[60],
        clusters=(ClusterFacts("c", minute[0], minute[60], 5, 1, 2, 3, 3),),
        outages=(
            TopicOutages("c", "clicks", 1, 1, 2 * MINUTE, 2 * MINUTE, 1, 0),
            TopicOutages("c", "orders", 2, 2, 90_000, MINUTE, 0, 1),
        ),
        churn=(TopicChurn("c", "orders", 2, 2, 1), TopicChurn("c", "clicks", 0, 1, 0)),
        moments=(
            Moment("c", minute[20], 0, 0, 20),
            Moment("c", minute[30], 1, 0, 0),
            Moment("c", minute[40], 0, 2, 1),
            Moment("c", minute[41], 1, 0, 0),
            Moment("c", minute[58], 0, 1, 0),
        ),
        failovers=(Failover("c", minute[40], 3, 2, 1, "orders", MINUTE, 45_000, 1),),
        failover_times=(FailoverTimes("c", 4, 2),),
        controllers=(ControllerFailover("c", minute[50], 2, 1, 2, 1200),),
        brokers=(
            BrokerFacts("c", 1, "rack-1", "active", 0, 3, (30 + 50) * MINUTE, 0, 0),
            BrokerFacts("c", 2, "rack-2", "active", 1, 1, 30 * MINUTE, 1, 6000),
            BrokerFacts("c", 3, "rack-3", "fenced", 1, 1, (40 + 19) * MINUTE, 1, 20 * MINUTE),
        ),
        configs=(ConfigChange("c", BEGIN_MS + 30_000, "TOPIC", "orders", "retention.ms", "1", "2"),),
        anomalies=(),
    )


def test_empty_tables_give_empty_figures(spark: Any) -> None:
    assert gathered(spark, {}) == Figures(0, (), (), (), (), (), (), (), (), (), ())


def flapping_broker(tables: Tables) -> Anomaly:
    tables["broker_sessions"] += [
        session_of(4, "active", **interval(start, start + 1, "fenced")) for start in (10, 13, 16)
    ]
    seen = "It fell 3 times: 3 by being fenced, 0 by starting anew."
    return Anomaly("c", "flapping broker", "broker 4", BEGIN_MS + 11 * MINUTE, BEGIN_MS + 17 * MINUTE, seen)


def isr_storm(tables: Tables) -> Anomaly:
    """Broker 1 is active all along. The like of it, by broker 3 after it was fenced, is none."""
    for number in range(10):
        tables["isr_changes"] += [
            partition(number) | {"offset": 221 + number, "time": at(22), "shrunk": [1], "grown": []},
            partition(number) | {"offset": 401 + number, "time": at(40), "shrunk": [3], "grown": []},
        ]
    seen = "10 replicas of active brokers left their ISRs, 10 of them on broker 1."
    return Anomaly("c", "ISR storm", "broker 1", BEGIN_MS + 22 * MINUTE, BEGIN_MS + 22 * MINUTE + 1000, seen)


def ghost_voter(tables: Tables) -> Anomaly:
    """Voter 4 was added 15 minutes before the end, and is a process that nobody ever started."""
    voters = ",".join(f'{{"voterId":{voter}}}' for voter in (1, 2, 3, 4))
    tables["records"].append(record(45, "control", name="KRAFT_VOTERS", json=f'{{"version":0,"voters":[{voters}]}}'))
    tables["elections"].pop()
    seen = "No controller of this id ever registered."
    return Anomaly("c", "ghost voter", "voter 4", BEGIN_MS + 45 * MINUTE, BEGIN_MS + 60 * MINUTE, seen)


@pytest.mark.parametrize("plant", [flapping_broker, isr_storm, ghost_voter])
def test_a_planted_anomaly_is_the_only_one_found(spark: Any, plant: Any) -> None:
    tables = clean()
    planted = plant(tables)

    assert gathered(spark, tables).anomalies == (planted,)
