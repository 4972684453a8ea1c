"""`kraftctl topic alter`: KIP-4's AlterTopic, carried out by CreatePartitions, reassignments and configs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from math import inf

from records.errors import Error, error_name
from records.java.config_error import ConfigError
from records.messages.configs import IncrementalAlterConfigsRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ListPartitionReassignmentsRequest
from records.messages.topics import CreatePartitionsRequest
from records.plain_text import plain_text
from records.resource_types import ConfigOperation, ResourceType
from tools.client.connection import Connection
from tools.client.live_quorum import LiveQuorum
from tools.client.quorum import FAILURES, NoLeader
from tools.client.quorum_options import add_quorum_options, addresses_of, security_of
from tools.client.retries import Retries
from tools.kraftctl.cluster.topic_plan import Alteration, CannotAlter, Plan, plan
from tools.kraftctl.terminal import Parser, add_verb, say
from tools.offline.log_file import DamagedLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLIENT_ID = "kraftctl-topic"
ASK_MS = 30_000
POLL_S = 0.5
NUMBER_MAX = (1 << 31) - 1


def run(arguments: list[str]) -> int:
    """Exit code 0 when the topic is altered (with --no-wait: when reassignments started), 1 with one line on stderr."""
    options = arguments_parser().parse_args(arguments)
    try:
        asked = Alteration(
            options.topic, options.partitions, options.replication_factor, options.replica_assignment, _configs(options)
        )
        live_quorum = LiveQuorum(addresses_of(options), CLIENT_ID, min(options.timeout, 30.0), security_of(options))
        with live_quorum as quorum:
            return _alter(quorum, asked, options)
    except KeyboardInterrupt:
        print("kraftctl topic alter: interrupted; what has begun goes on in the cluster", file=sys.stderr)
        return 130
    except (CannotAlter, ConfigError, DamagedLog, *FAILURES) as error:
        print(f"kraftctl topic alter: {plain_text(error)}", file=sys.stderr)
        return 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = Parser(prog="kraftctl topic", description="Alters a topic. Everything is checked before anything is altered.")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="alter")
    alter = add_verb(
        verbs,
        "alter",
        "alter partitions, replicas and configs of a topic",
        "Alters partitions, replicas and configs of a topic. An assignment takes precedence over the "
        "replication factor, and both over the number of partitions (KIP-4).",
        "kraftctl topic alter orders --partitions 24 --dry-run --bootstrap-controller c1:9093",
        "kraftctl topic alter orders --replication-factor 3 --set retention.ms=86400000 -c controller.properties",
        "kraftctl topic alter orders --replica-assignment '0:1,2,3;1:2,3,1' --no-wait -c controller.properties",
    )
    alter.add_argument("topic", metavar="TOPIC")
    add_quorum_options(alter)
    alter.add_argument("--partitions", type=_number, metavar="N", help="partitions afterwards")
    alter.add_argument("--replication-factor", type=_number, metavar="N", help="replicas of each partition")
    alter.add_argument(
        "--replica-assignment", type=_assignment, metavar="P:B,B;…", help="partitions with brokers: 0:1,2;1:2,3"
    )
    alter.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a config (repeatable)")
    alter.add_argument("--delete", action="append", default=[], metavar="KEY", help="a config to reset (repeatable)")
    alter.add_argument("--dry-run", action="store_true", help="check everything and print the plan, but change nothing")
    alter.add_argument("--no-wait", action="store_true", help="do not wait until replicas have moved")
    alter.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="default: %(default)s")
    alter.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    return top


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= NUMBER_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {NUMBER_MAX}")
    return int(text)


def _assignment(text: str) -> dict[int, tuple[int, ...]]:
    replicas: dict[int, tuple[int, ...]] = {}
    for part in filter(None, text.split(";")):
        number, colon, brokers = part.partition(":")
        numbers = [number, *brokers.split(",")]
        if not colon or not all(one.isascii() and one.isdigit() and int(one) <= NUMBER_MAX for one in numbers):
            raise argparse.ArgumentTypeError(f"{part!r} is not PARTITION:BROKER,BROKER…")
        if int(number) in replicas:
            raise argparse.ArgumentTypeError(f"partition {number} is given twice")
        replicas[int(number)] = tuple(int(broker) for broker in numbers[1:])
    if not replicas:
        raise argparse.ArgumentTypeError("it names no partition")
    return replicas


def _configs(options: argparse.Namespace) -> dict[str, str | None]:
    configs: dict[str, str | None] = {}
    for text in options.set:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise CannotAlter(f"--set {text}: expected KEY=VALUE")
        if key in configs:
            raise CannotAlter(f"--set {key}: the key is set twice")
        configs[key] = value
    for key in options.delete:
        if key in configs:
            raise CannotAlter(f"--delete {key}: the key is already set or deleted")
        configs[key] = None
    return configs


def _alter(quorum: LiveQuorum, asked: Alteration, options: argparse.Namespace) -> int:
    quorum.update()
    steps = plan(quorum.image, asked)
    said = _Report(steps, options.json, options.dry_run)
    if steps.configs:
        _check(_incremental(quorum, steps, validate_only=True), steps.topic, "configs")
    if steps.partitions is not None:
        _check(_create(quorum, steps, validate_only=True), steps.topic, "partitions")
    said.report_plan()
    if options.dry_run or steps.is_empty:
        return said.report_end(done=steps.is_empty)
    if steps.configs:
        _check(_incremental(quorum, steps, validate_only=False), steps.topic, "configs")
        said.step("configs are altered")
    if steps.partitions is not None:
        _add_partitions(quorum, steps)
        said.step(f"the topic has {steps.partitions} partitions")
    if steps.moves:
        _reassign(quorum, steps)
        said.step(f"{len(steps.moves)} partitions are being reassigned")
        if not options.no_wait and not _wait(quorum, steps, said, time.monotonic() + options.timeout):
            print(f"kraftctl topic alter: reassignments still in progress after {options.timeout:g} s", file=sys.stderr)
            said.report_end(done=False)
            return 1
    return said.report_end(done=not (steps.moves and options.no_wait))


class _Report:
    """The output: lines of progress, or one JSON object at the end."""

    def __init__(self, steps: Plan, as_json: bool, dry_run: bool) -> None:
        self.plan = steps
        self.as_json = as_json
        self.dry_run = dry_run
        self.left = len(steps.moves)

    def report_plan(self) -> None:
        steps = self.plan
        if steps.is_empty:
            self.step(f"topic {steps.topic} needs no change")
        for key, value in steps.configs.items():
            self.step(f"config {key}: " + ("reset" if value is None else f"set to {value}"))
        if steps.partitions is not None:
            replicas = steps.first_replicas
            where = "placed by the controller" if replicas is None else f"on brokers {_lists(replicas)}"
            self.step(f"partitions: {steps.partitions} in total, the new ones {where}")
        for move in steps.moves:
            self.step(f"partition {move.partition}: from brokers {list(move.before)} to {list(move.after)}")
        if self.dry_run and not steps.is_empty:
            self.step("dry run: nothing is altered")

    def step(self, text: str) -> None:
        if not self.as_json:
            say(text, flush=True)

    def moving(self, left: int) -> None:
        if left != self.left:
            self.left = left
            self.step(f"{len(self.plan.moves) - left} of {len(self.plan.moves)} partitions have moved")

    def report_end(self, *, done: bool) -> int:
        steps = self.plan
        if self.as_json:
            first = steps.first_replicas
            print(
                json.dumps(
                    {
                        "topic": steps.topic,
                        "dry_run": self.dry_run,
                        "done": done and not (self.dry_run and not steps.is_empty),
                        "configs": dict(steps.configs),
                        "partitions": steps.partitions,
                        "new_replicas": None if first is None else [list(one) for one in first],
                        "moves": [
                            {"partition": move.partition, "from": list(move.before), "to": list(move.after)}
                            for move in steps.moves
                        ],
                        "still_moving": self.left if not done and not self.dry_run else 0,
                    }
                )
            )
        return 0


def _lists(lists: tuple[tuple[int, ...], ...]) -> str:
    return ", ".join(str(list(one)) for one in lists)


def _wait(quorum: LiveQuorum, steps: Plan, said: _Report, end: float) -> bool:
    """Wait until no reassignment of the plan is in progress; returns False at the deadline."""
    while True:
        left = _moving(quorum, steps)
        said.moving(left)
        if not left:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(POLL_S)


def _moving(quorum: LiveQuorum, steps: Plan) -> int:
    topic = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics(
        name=steps.topic, partition_indexes=tuple(move.partition for move in steps.moves)
    )
    answer = _ask(quorum, ListPartitionReassignmentsRequest(timeout_ms=ASK_MS, topics=(topic,)))
    if answer.error_code:
        raise CannotAlter(f"topic {steps.topic}: {_text(answer)}")
    return sum(len(one.partitions) for one in answer.topics)


def _incremental(quorum: LiveQuorum, steps: Plan, *, validate_only: bool) -> list[Any]:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    configs = tuple(
        resource.AlterableConfig(
            name=key, config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET, value=value
        )
        for key, value in steps.configs.items()
    )
    request = IncrementalAlterConfigsRequest(
        resources=(resource(resource_type=ResourceType.TOPIC, resource_name=steps.topic, configs=configs),),
        validate_only=validate_only,
    )
    return list(_ask(quorum, request).responses)


def _create(quorum: LiveQuorum, steps: Plan, *, validate_only: bool) -> list[Any]:
    kind = CreatePartitionsRequest.CreatePartitionsTopic
    assert steps.partitions is not None
    assignments = None
    if steps.first_replicas is not None:
        assignments = tuple(kind.CreatePartitionsAssignment(broker_ids=replicas) for replicas in steps.first_replicas)
    topic = kind(name=steps.topic, count=steps.partitions, assignments=assignments)
    request = CreatePartitionsRequest(topics=(topic,), timeout_ms=ASK_MS, validate_only=validate_only)
    return list(_ask(quorum, request).results)


def _add_partitions(quorum: LiveQuorum, steps: Plan) -> None:
    """Add the partitions. If the connection fails before the response, the request may have added them already."""
    try:
        _check(_create(quorum, steps, validate_only=False), steps.topic, "partitions")
    except NoLeader:
        raise
    except (CannotAlter, OSError):
        image = quorum.update()
        topic_id = image.topic_ids.get(steps.topic)
        if topic_id is None or len(image.topics[topic_id].partitions) != steps.partitions:
            raise


def _reassign(quorum: LiveQuorum, steps: Plan) -> None:
    kind = AlterPartitionReassignmentsRequest.ReassignableTopic
    partitions = tuple(
        kind.ReassignablePartition(partition_index=move.partition, replicas=move.after) for move in steps.moves
    )
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=ASK_MS, topics=(kind(name=steps.topic, partitions=partitions),)
    )  # fmt: skip
    answer = _ask(quorum, request)
    if answer.error_code:
        raise CannotAlter(f"topic {steps.topic}: reassignments: {_text(answer)}")
    for topic in answer.responses:
        for partition in topic.partitions:
            _check([partition], steps.topic, f"partition {partition.partition_index}")


def _check(results: list[Any], topic: str, what: str) -> None:
    if len(results) != 1:
        raise CannotAlter(f"topic {topic}, {what}: missing in the response")
    if results[0].error_code:
        raise CannotAlter(f"topic {topic}, {what}: {_text(results[0])}")


def _text(result: Any) -> str:
    return f"{error_name(result.error_code)}: {result.error_message or 'no message'}"


def _ask(quorum: LiveQuorum, request: Any) -> Any:
    """The response of the active controller; if another has become active, the request is sent once more, to it."""
    retries = Retries(inf, 0.0, count_max=1)
    while True:
        host, _, port = quorum.leader.rpartition(":")
        try:
            with Connection(host, int(port), CLIENT_ID, ASK_MS / 1000, quorum.security) as connection:
                answer = connection.ask(request)
        except OSError:
            if not retries.pause():
                raise
        else:
            if not _is_of_another(answer) or not retries.pause():
                return answer
        quorum.update()


def _is_of_another(answer: Any) -> bool:
    results = [answer, *getattr(answer, "responses", ()), *getattr(answer, "results", ())]
    return any(getattr(one, "error_code", 0) == Error.NOT_CONTROLLER for one in results)
