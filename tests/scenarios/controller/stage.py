"""The commands of the controller's scenarios, and how their results are printed.

    cluster [elr] [level=30] [KEY=VALUE …]       a controller that leads; settings of `controller.interface.settings`
    register B [incarnation=1] [dirs=1] [rack=R] [previous=E]    a broker registers
    beat B [fence] [shutdown] [behind=N] [offline=B.N]           a heartbeat
    brokers B …, fence B …, unfence B …          several at once, shown by what is written
    unregister B
    create TOPIC REPLICAS … [KEY=VALUE …]        replicas are like 0,1,2
    delete TOPIC
    isr TOPIC-P MEMBERS [from=B] [recovered]     the leader reports the ISR
    reassign TOPIC-P REPLICAS, cancel TOPIC-P, reassigning
    elect preferred|unclean TOPIC-P
    config TOPIC KEY=VALUE
    hold, commit [END]                           from now on nothing is committed but by `commit`
    doubt, confirm                               from now on leadership is confirmed by `confirm` alone
    lose [kept=N], lead                          another leads, and has N of the batches that were not committed
    wait MS                                      time passes
    show TOPIC, sessions

An answer is shown when it comes, with the number of its request; `offset: record` is what was written.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from controller.interface.inputs import Committed, LeaderChanged, LeadershipConfirmed, Ticked
from records.batch import batches, records_of
from records.errors import error_name
from records.frame import decode_record
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from tests.controller.rig import Rig, directory, new_topic, registration, set_config

Reassignable = AlterPartitionReassignmentsRequest.ReassignableTopic

# Said also where it is 0 or False.
ALWAYS = ("partition_index", "partition_id", "is_fenced")


class Stage:
    """One scenario: a rig, and what of it was shown already."""

    def __init__(self) -> None:
        self.rig = Rig()
        self.shown_offset = 0
        self.shown_replies: set[int] = set()
        self.shown_notes = 0
        self.names: dict[bytes, str] = {}

    def execute(self, command: str) -> list[str]:
        """Run one command; what it printed."""
        name, *words = command.split()
        args = [word for word in words if "=" not in word]
        options = dict(word.split("=", 1) for word in words if "=" in word)
        printed = getattr(self, f"do_{name}")(*args, **options)
        return [*(printed or ()), *self.news()]

    def news(self) -> list[str]:
        """What was written, answered and noted since the last look."""
        rig = self.rig
        lines = []
        for data in rig.log:
            for batch in batches(data):
                if batch.is_control or batch.base_offset < self.shown_offset:
                    continue
                lines += [
                    f"{record.offset}: {self.record_text(decode_record(record.value or b'')[0])}"
                    for record in records_of(data, batch)
                ]
        self.shown_offset = rig.end_offset
        for number, response in rig.replies.items():
            if number not in self.shown_replies:
                self.shown_replies.add(number)
                lines.append(f"answer {number}: {self.answer_text(response)}")
        lines += [
            f"noted {note.name} {' '.join(f'{k}={v}' for k, v in note.fields.items())}"
            for note in rig.notes[self.shown_notes :]
        ]
        self.shown_notes = len(rig.notes)
        return lines

    # Showing.

    def record_text(self, record: Any) -> str:
        """A record with what it says beyond its defaults; of registrations only what matters here."""
        if hasattr(record, "name") and hasattr(record, "topic_id"):
            self.names[record.topic_id] = record.name
        words = [type(record).__name__.removesuffix("Record")]
        for field in type(record).__schema__.fields:
            value = getattr(record, field.name)
            if field.name in ("end_points", "features", "incarnation_id"):
                continue
            if value == field.default_of() or (value == () and field.required):
                continue
            words.append(f"{field.name}={self.value_text(field.name, value)}")
        return " ".join(words)

    def value_text(self, name: str, value: Any) -> str:
        if name == "topic_id":
            return self.names.get(value, "?")
        if name in ("directories", "log_dirs", "cordoned_log_dirs"):
            return ",".join(directory_text(each) for each in value)
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    def answer_text(self, response: Any) -> str:
        """Errors and what else an answer has, without what is nothing."""
        if not isinstance(response, tuple) and not hasattr(type(response), "__schema__"):
            return str(response)
        words = []
        for field in type(response).__schema__.fields:
            value = getattr(response, field.name)
            if field.name == "error_code":
                words.append(error_name(value))
            elif isinstance(value, tuple) and value and hasattr(value[0], "unknown_tags"):
                if field.name != "configs":
                    words += [f"[{self.answer_text(item)}]" for item in value]
            elif value not in (field.default_of(), None, (), 0, False) or field.name.startswith(
                ("partition_i", "is_f")
            ):
                words.append(f"{field.name}={self.value_text(field.name, value)}")
        return " ".join(words)

    # Commands.

    def do_cluster(self, *flags: str, level: str = "30", **settings: str) -> None:
        given: dict[str, Any] = {key: int(value) for key, value in settings.items()}
        given.setdefault("metadata_max_idle_interval_ms", 0)
        self.rig = Rig(metadata_version=int(level), elr="elr" in flags, **given).lead()

    def do_register(self, broker: str, incarnation: str = "1", dirs: str = "1", **options: str) -> None:
        fields: dict[str, Any] = {"log_dirs": tuple(directory(int(broker), n) for n in range(int(dirs)))}
        if "rack" in options:
            fields["rack"] = options["rack"]
        if "previous" in options:
            fields["previous_broker_epoch"] = int(options["previous"])
        self.rig.send(registration(int(broker), int(incarnation), **fields), 4)

    def do_beat(self, broker: str, *wants: str, behind: str = "0", offline: str = "") -> None:
        fields: dict[str, Any] = {"current_metadata_offset": self.rig.end_offset - 1 - int(behind)}
        if offline:
            number, of = offline.split(".")
            fields["offline_log_dirs"] = (directory(int(number), int(of)),)
        self.rig.heartbeat_unanswered(
            int(broker), want_fence="fence" in wants, want_shut_down="shutdown" in wants, **fields
        )

    def quietly(self) -> None:
        self.shown_replies.update(self.rig.replies)
        self.shown_notes = len(self.rig.notes)

    def do_brokers(self, *brokers: str) -> None:
        self.rig.brokers(*map(int, brokers))
        self.quietly()

    def do_fence(self, *brokers: str) -> None:
        self.rig.fence(*map(int, brokers))
        self.quietly()

    def do_unfence(self, *brokers: str) -> None:
        self.rig.unfence(*map(int, brokers))
        self.quietly()

    def do_unregister(self, broker: str) -> None:
        self.rig.send(UnregisterBrokerRequest(broker_id=int(broker)))

    def do_create(self, topic: str, *assignments: str, **configs: str) -> None:
        dotted = {key.replace(".", "_"): value for key, value in configs.items()}
        self.rig.send(CreateTopicsRequest(topics=(new_topic(topic, *map(ids, assignments), **dotted),)))

    def do_delete(self, topic: str) -> None:
        state = DeleteTopicsRequest.DeleteTopicState(name=topic)
        self.rig.send(DeleteTopicsRequest(topics=(state,), timeout_ms=60_000))

    def do_isr(self, partition: str, members: str, *flags: str, **options: str) -> None:
        topic, index = split(partition)
        fields: dict[str, Any] = {"leader": int(options["from"])} if "from" in options else {}
        if "recovered" in flags:
            fields["leader_recovery_state"] = 0
        with suppress(KeyError):  # the answer may wait
            self.rig.alter(topic, ids(members), partition_id=index, **fields)

    def do_reassign(self, partition: str, replicas: str = "") -> None:
        topic, index = split(partition)
        part = Reassignable.ReassignablePartition(partition_index=index, replicas=ids(replicas) if replicas else None)
        self.rig.send(AlterPartitionReassignmentsRequest(topics=(Reassignable(name=topic, partitions=(part,)),)))

    def do_cancel(self, partition: str) -> None:
        self.do_reassign(partition)

    def do_reassigning(self) -> None:
        self.rig.send(ListPartitionReassignmentsRequest())

    def do_elect(self, kind: str, partition: str) -> None:
        topic, index = split(partition)
        asked = ElectLeadersRequest.TopicPartitions(topic=topic, partitions=(index,))
        self.rig.send(
            ElectLeadersRequest(election_type=("preferred", "unclean").index(kind), topic_partitions=(asked,))
        )

    def do_config(self, topic: str, **configs: str) -> None:
        for key, value in configs.items():
            set_config(self.rig, 2, topic, key, value)

    def do_hold(self) -> list[str]:
        self.rig.auto = False
        return ["nothing is committed from now on"]

    def do_commit(self, end_offset: str = "") -> None:
        self.rig.commit(int(end_offset) if end_offset else None)

    def do_doubt(self) -> list[str]:
        self.rig.confirms = False
        return ["leadership is not confirmed from now on"]

    def do_confirm(self) -> None:
        self.rig.step(LeadershipConfirmed(self.rig.controller.waiting.asked, self.rig.epoch))

    def do_lose(self, kept: str = "0") -> None:
        rig = self.rig
        committed = rig.state.committed_end_offset
        lost = [data for data in rig.log if next(batches(data)).base_offset >= committed]
        rig.epoch += 1
        rig.step(LeaderChanged(rig.epoch, 7))
        for data in lost[: int(kept)]:
            rig.step(Committed(data))
        rig.end_offset = self.shown_offset = rig.state.end_offset
        rig.log = [data for data in rig.log if next(batches(data)).last_offset < rig.end_offset]

    def do_lead(self) -> None:
        self.rig.lead()

    def do_wait(self, ms: str) -> None:
        self.rig.tick(int(ms))
        self.rig.step(Ticked())

    def do_show(self, topic: str) -> list[str]:
        found = self.rig.state.topic(topic)
        if found is None:
            return [f"{topic} is not there"]
        return [f"{topic}-{index}: {partition_text(p)}" for index, p in self.rig.state.partitions.of_topic(found)]

    def do_sessions(self) -> list[str]:
        sessions = self.rig.controller.env.sessions
        if sessions is None:
            return ["a standby has no sessions"]
        return [
            f"broker {s.broker_id}: {'fenced' if s.fenced else 'unfenced'}, offset {s.metadata_offset}"
            + (f", shutting down since {s.shutdown_offset}" if s.is_shutting_down else "")
            for s in sessions
        ]


def ids(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(",") if each != "none")


def split(partition: str) -> tuple[str, int]:
    topic, index = partition.rsplit("-", 1)
    return topic, int(index)


def partition_text(partition: Any) -> str:
    """What is not as it always is."""
    words = [f"leader {partition.leader} of epoch {partition.leader_epoch}, epoch {partition.partition_epoch}"]
    for name in ("replicas", "isr", "elr", "last_known_elr", "adding", "removing"):
        value = getattr(partition, name)
        if value or name == "isr":
            words.append(f"{name} {','.join(map(str, value)) or 'none'}")
    if partition.recovery_state:
        words.append("recovering")
    return "; ".join(words)


def directory_text(id_: bytes) -> str:
    names = {UNASSIGNED_DIRECTORY: "unassigned", MIGRATING_DIRECTORY: "migrating"}
    return names.get(id_) or f"{int.from_bytes(id_[10:], 'big')}.{id_[4]}"
