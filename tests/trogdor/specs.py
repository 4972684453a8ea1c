"""Trogdor's tasks: what is asked of an agent, and what is wrong with how a task ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.trogdor.processes import CLIENTS, FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE = "org.apache.kafka.trogdor"
# A task that does not come to an end is stopped then, and has not done what it should.
TASK_S = 300
PARTITIONS = 3
# Trogdor creates the topics. A record that is acknowledged is on two brokers, which may not lose it.
TOPIC = {"numPartitions": PARTITIONS, "replicationFactor": 3, "configs": {"min.insync.replicas": "2"}}
ROUND_TRIP_TOPICS, PRODUCED_TOPICS, IDLE_TOPICS = 3, 2, 6
PER_TRANSACTION = 100
# A topic is written to as soon as it is created. Its leader may refuse the first request, because it has not read the
# record of the partition yet, and accept the second one, with a later sequence number: then it never accepts the first,
# which expires (KAFKA-15591, a fault of brokers of 4.3.1).
PRODUCER = {"max.in.flight.requests.per.connection": "1"}

Task = dict[str, Any]


def round_trip(servers: str, number: int, messages: int, per_s: int) -> Task:
    """Write numbered messages to topics of its own, and read them back."""
    return {
        **_task("workload.RoundTripWorkloadSpec"), "clientNode": CLIENTS, "bootstrapServers": servers,
        "targetMessagesPerSec": per_s, "maxMessages": messages, "producerConf": PRODUCER,
        "activeTopics": {f"round-trip-{number}-[1-{ROUND_TRIP_TOPICS}]": TOPIC},
    }  # fmt: skip


def produce(servers: str, number: int, messages: int, per_s: int) -> Task:
    """Write messages, beside topics that nobody uses."""
    return {
        **_task("workload.ProduceBenchSpec"), "producerNode": CLIENTS, "bootstrapServers": servers,
        "targetMessagesPerSec": per_s, "maxMessages": messages, "producerConf": PRODUCER,
        "activeTopics": {f"produced-{number}-[1-{PRODUCED_TOPICS}]": TOPIC},
        "inactiveTopics": {f"idle-{number}-[1-{IDLE_TOPICS}]": TOPIC},
    }  # fmt: skip


def transactions(servers: str, number: int, messages: int, per_s: int) -> Task:
    """Write messages in transactions. messages: a multiple of `PER_TRANSACTION`."""
    return {
        **_task("workload.ProduceBenchSpec"), "producerNode": CLIENTS, "bootstrapServers": servers,
        "targetMessagesPerSec": per_s, "maxMessages": messages, "producerConf": PRODUCER,
        "transactionGenerator": {"type": "uniform", "messagesPerTransaction": PER_TRANSACTION},
        "activeTopics": {f"transactions-{number}": TOPIC},
    }  # fmt: skip


def consume(servers: str, number: int, messages: int) -> Task:
    """Read, in a group, what `produce` and `transactions` write."""
    return {
        **_task("workload.ConsumeBenchSpec"), "consumerNode": CLIENTS, "bootstrapServers": servers,
        "maxMessages": messages, "consumerGroup": f"consumers-{number}",
        "consumerConf": {"isolation.level": "read_committed", "allow.auto.create.topics": "false"},
        "activeTopics": [f"produced-{number}-[1-{PRODUCED_TOPICS}]", f"transactions-{number}"],
    }  # fmt: skip


def command(words: Sequence[str]) -> Task:
    """Run a command on the clients' node."""
    return {**_task("workload.ExternalCommandSpec"), "commandNode": CLIENTS, "command": list(words)}


def stop(process: str, seconds: float) -> Task:
    """Stop a process by SIGSTOP for these seconds. process: a part of its command line."""
    return {
        **_task("fault.ProcessStopFaultSpec", seconds), "nodeNames": [FAULTS], "javaProcessName": process,
    }  # fmt: skip


def _task(name: str, seconds: float = TASK_S) -> Task:
    return {"class": f"{PACKAGE}.{name}", "startMs": 0, "durationMs": round(seconds * 1000)}


def check_ended(task: str, state: Task) -> list[str]:
    """A task ends with no error: Trogdor leaves out what is empty."""
    return [f"{task} ended with the error {state['error']!r}"] if state.get("error") else []


def check_counts(task: str, state: Task, **wanted: int) -> list[str]:
    """A task ends with no error, and with these numbers in its status."""
    status = _fields(state)
    return check_ended(task, state) + [
        f"{task} ended with {name} {status.get(name)} where {count} is expected: {state.get('status')}"
        for name, count in wanted.items()
        if status.get(name) != count
    ]


def check_consumed(task: str, state: Task, messages: int) -> list[str]:
    """The one consumer of a task has got all messages."""
    counts = [each.get("totalMessagesReceived") for each in _fields(state).values()]
    wrong = check_ended(task, state)
    return wrong if counts == [messages] else [*wrong, f"{task} ended with {counts} of {messages} messages"]


def check_resumed(task: str, state: Task, process: str) -> list[str]:
    """A process was stopped, and goes on."""
    resumed = f"resumed {process}"
    wrong = check_ended(task, state)
    return (
        wrong if state.get("status") == resumed else [*wrong, f"{task} ended with the status {state.get('status')!r}"]
    )


def end_offsets(text: str, topic: str) -> int:
    """The sum of the end offsets of all topics whose names begin so, in what `kafka-get-offsets` prints."""
    rows = [line.split(":") for line in text.splitlines() if line.count(":") == 2]
    return sum(int(offset) for name, _partition, offset in rows if name.startswith(topic))


def _fields(state: Task) -> dict[str, Any]:
    """The status of a task; none where it is a text, or was never told."""
    status = state.get("status")
    return status if isinstance(status, dict) else {}
