"""A plan of ours, executed by the stock reassign tool on stock brokers: accepted, finished, nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.interop.cluster import OURS, Cluster, eventually
from tests.interop.test_broker_joins import await_brokers
from tests.interop.traffic import Producer, consume

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock

RACKS = {101: "east", 102: "east", 103: "west", 104: "west"}
PARTITIONS = 12
RECORDS = 2000


def test_the_stock_tool_executes_a_plan_and_the_next_plan_is_empty(tmp_path: Path, stock: Stock) -> None:
    found = Cluster(tmp_path, stock)
    try:
        found.plan([OURS], len(RACKS))
        for number, node in found.brokers.items():
            with node.properties.open("a") as file:
                file.write(f"broker.rack={RACKS[number]}\n")
        found.format()
        found.start()
        found.await_leader()
        await_brokers(found, len(RACKS))

        a_crowded_topic_is_spread(found)
    finally:
        found.end()


def a_crowded_topic_is_spread(found: Cluster) -> None:
    found.tool(
        "topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", "crowded",
        "--replica-assignment", ",".join(["101:102"] * PARTITIONS),
    )  # fmt: skip
    producer = Producer(found, "crowded", RECORDS, seconds=1)
    assert producer.finish() == 0

    plan, back = found.root / "plan.json", found.root / "back.json"
    output = planned(found, "--out", str(plan), "--rollback", str(back))
    assert f"{PARTITIONS} replicas move, of {PARTITIONS} partitions; at least {PARTITIONS} must." in output
    wanted = replicas(json.loads(plan.read_text()))
    assert all({RACKS[one] for one in held} == {"east", "west"} for held in wanted.values())

    said = reassign(found, "--execute", "--reassignment-json-file", str(plan))
    assert "Successfully started partition reassignments for crowded-0,crowded-1," in said
    # The tool prints the former assignment and advises to keep it for a rollback.
    assert replicas(json.loads(back.read_text())) == replicas(json.loads(said.splitlines()[2]))
    eventually(lambda: finished(found, plan), "all reassignments completed", seconds=120)

    assert described(found) == wanted
    assert sorted(consume(found, "crowded", RECORDS)) == list(range(RECORDS))
    eventually(lambda: "0 replicas move, of 0 partitions; at least 0 must." in planned(found), "nothing left to move")


def planned(found: Cluster, *options: str) -> str:
    """The planner's output about the topic, from the directory of the running controller."""
    command = [sys.executable, "-m", "pipeline.planner", str(found.controllers[1].directory), "--topics", "crowded"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def reassign(found: Cluster, *arguments: str) -> str:
    return found.tool("reassign-partitions", "--bootstrap-server", found.bootstrap, *arguments)


def finished(found: Cluster, plan: Path) -> bool:
    lines = reassign(found, "--verify", "--reassignment-json-file", str(plan)).splitlines()
    return sum(line.endswith("is completed.") for line in lines) == PARTITIONS


def replicas(assignment: dict[str, Any]) -> dict[int, list[int]]:
    return {one["partition"]: one["replicas"] for one in assignment["partitions"]}


def described(found: Cluster) -> dict[int, list[int]]:
    """The replicas of each partition, as the stock tool shows them."""
    said = found.tool("topics", "--bootstrap-server", found.bootstrap, "--describe", "--topic", "crowded")
    rows = [
        dict(part.split(": ", 1) for part in line.strip().split("\t") if ": " in part) for line in said.splitlines()
    ]
    return {int(row["Partition"]): [int(one) for one in row["Replicas"].split(",")] for row in rows[1:]}
