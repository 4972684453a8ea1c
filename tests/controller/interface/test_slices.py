"""What handlers say that they read: all of it, and no more than others may change beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.config.node import NodeConfig
from controller.interface.effects import Requeue
from records.messages.configs import AlterConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.schema import replace
from records.uuids import ZERO_UUID
from tests.controller.core.test_long_steps import (
    ROOT,
    Long,
    active,
    allowing,
    altered,
    altered_groups,
    created,
    deleted,
    grown,
    kinds,
    limited,
    secured,
    topics,
)
from tests.controller.handlers.cluster_of_configs import NODE

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.interface.slices import Reads
    from controller.state.tables.table import Table
    from tests.controller.rig import Rig

NAMES = ["a", "b", "similar.name"]
OTHERS = ["x", "y"]


def deleted_by_id(rig: Rig) -> DeleteTopicsRequest:
    state = DeleteTopicsRequest.DeleteTopicState
    ids = tuple(state(name=None, topic_id=rig.state.topic_ids[name]) for name in NAMES)
    return DeleteTopicsRequest(topics=ids, timeout_ms=60_000)


def replaced(names: list[str]) -> AlterConfigsRequest:
    resource = AlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(name="retention.ms", value="60000")
    resources = tuple(resource(resource_type=2, resource_name=name, configs=(change,)) for name in names)
    return AlterConfigsRequest(resources=resources, validate_only=False)


def with_configs(names: list[str]) -> CreateTopicsRequest:
    config = CreateTopicsRequest.CreatableTopic.CreatableTopicConfig(name="retention.ms", value="50000")
    request = created(names)
    return replace(request, topics=tuple(replace(topic, configs=(config,)) for topic in request.topics))


def of_brokers(_names: list[str]) -> IncrementalAlterConfigsRequest:
    return altered(["", "1", "2", "9"], 4, "log.retention.ms")


def cluster(*, has_topics: bool) -> Rig:
    """Three brokers, ROOT's mutation quota, and perhaps the topics that requests name."""
    rig = secured()
    rig.controller.env.config = NodeConfig(NODE)
    rig.ask(limited_mutations(1e6), principal=ROOT)
    rig.ask(created(OTHERS), principal=ROOT)
    if has_topics:
        rig.ask(created(NAMES), principal=ROOT)
    return rig


def limited_mutations(rate: float) -> Any:
    request = limited(["root"])
    (entry,) = request.entries
    op = entry.OpData(key="controller_mutation_rate", value=rate, remove=False)
    return replace(request, entries=(replace(entry, ops=(op,)),))


def optimistic_slices(rig: Rig, request: Any) -> int:
    """After how many slices of this phase it ends."""
    long = Long(rig, request)
    long.reach("OPTIMISTIC")
    count = 1
    while long.go_on() and not rig.controller.long.holds_writes:
        count += 1
    return count


def codes(rig: Rig, long: Long) -> list[str]:
    """The answer of a long request without what is drawn by lot."""
    (response,) = [each.response for each in rig.controller.waiting if each.context.source == long.source]
    (entries,) = [
        value
        for value in (getattr(response, field.name) for field in response.__schema__.fields)
        if isinstance(value, tuple)
    ]
    return sorted(str(replace(each, topic_id=ZERO_UUID) if hasattr(each, "topic_id") else each) for each in entries)


def contents(rig: Rig) -> Any:
    """The state without what is drawn by lot."""
    found = rig.state.contents()
    found["topics"] = {name: len(partitions) for name, partitions in found["topics"].values()}
    found["topic_ids"] = sorted(found["topic_ids"])
    found["acls"] = sorted(found["acls"].values())
    return found


def tokens(rig: Rig) -> list[int]:
    """What is left of the quotas of mutations."""
    return [round(bucket.tokens) for bucket in rig.controller.env.mutation_buckets.values()]


def watch_reads(rig: Rig) -> list[tuple[str, Any, bool]]:
    """Note each read of a table in the phase OPTIMISTIC: its name, the key, and whether the handler has named it."""
    long = rig.controller.long
    seen: list[tuple[str, Any, bool]] = []

    def is_named(reads: Reads, table: Table[Any, Any], key: Any) -> bool:
        # A topic comes and goes with its name.
        topic = dict.get(rig.state.topics, key) if table is rig.state.topics else None
        name = None if topic is None else topic.name
        return key in reads.get(table.log, ()) or name in reads.get(rig.state.topic_ids.log, ())

    def note(table: Table[Any, Any], *keys: Any) -> None:
        step = long.present
        if step is not None and step.is_running and step.phase.name == "OPTIMISTIC":
            seen.extend((table.log.name, key, is_named(step.reads, table, key)) for key in keys)

    for table in rig.state.tables().values():
        if table.log.name != "acls":  # decisions rest on committed ones
            table.__class__ = watched(type(table), note)
    return seen


def watched(kind: type[Table[Any, Any]], note: Callable[..., None]) -> type[Table[Any, Any]]:
    """The class of a table that notes what is read."""

    class Watched(kind):  # type: ignore[misc, valid-type]
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            note(self, key)
            return super().__getitem__(key)

        def get(self, key: Any, default: Any = None) -> Any:
            note(self, key)
            return super().get(key, default)

        def __contains__(self, key: Any) -> bool:
            note(self, key)
            return super().__contains__(key)

        def __iter__(self) -> Any:
            note(self, *super().keys())
            return super().__iter__()

    return Watched


# What is asked, whether the topics are there before, what changes what it reads, and what does not.
Asked = tuple["Callable[[list[str]], Any]", bool, "Callable[[list[str]], Any]", "Callable[[list[str]], Any]"]
ASKED: list[Asked] = [
    (created, False, lambda _: created(["b"]), lambda _: created(["c"])),
    (created, False, lambda _: created(["similar_name"]), lambda _: altered(OTHERS)),
    (created, False, lambda _: limited_mutations(5.0), lambda _: allowing(["x"])),
    (with_configs, False, of_brokers, lambda _: grown(OTHERS)),
    (deleted, True, lambda _: deleted(["b"]), lambda _: deleted(OTHERS)),
    (deleted, True, lambda _: grown(["b"]), lambda _: grown(OTHERS)),
    (deleted, True, lambda _: limited_mutations(5.0), lambda _: allowing(["x"])),
    (grown, True, lambda _: grown(["b"]), lambda _: grown(OTHERS)),
    (grown, True, lambda _: deleted(["b"]), lambda _: altered(NAMES)),
    (grown, True, lambda _: limited_mutations(5.0), lambda _: allowing(["x"])),
    (altered, True, lambda _: altered(["b"]), lambda _: altered(OTHERS)),
    (altered, True, lambda _: deleted(["b"]), lambda _: grown(NAMES)),
    (altered_groups, True, lambda _: altered_groups(["b"]), lambda _: altered(NAMES)),
    (replaced, True, lambda _: altered(["b"]), lambda _: created(["c"])),
    (of_brokers, True, of_brokers, lambda _: altered(NAMES)),
    (allowing, True, lambda _: allowing(["b"]), lambda _: created(["c"])),
    (limited, True, lambda _: limited(["b"]), lambda _: created(["c"])),
]


@pytest.mark.parametrize(("ask", "has_topics", "overtakes", "_beside"), ASKED)
def test_a_change_of_what_is_read_has_the_request_decided_again(
    ask: Any, has_topics: bool, overtakes: Any, _beside: Any
) -> None:
    after = cluster(has_topics=has_topics)
    after.ask(overtakes(NAMES), principal=ROOT)
    in_turn = Long(after, ask(NAMES))
    in_turn.end()

    for slices in (1, optimistic_slices(cluster(has_topics=has_topics), ask(NAMES))):
        rig = cluster(has_topics=has_topics)
        long = Long(rig, ask(NAMES))
        long.reach("OPTIMISTIC")
        for _ in range(1, slices):
            long.go_on()
        rig.ask(overtakes(NAMES), principal=ROOT)
        long.end()

        assert rig.controller.long.begun_again == 1
        assert codes(rig, long) == codes(after, in_turn)
        assert contents(rig) == contents(after)
        assert tokens(rig) == tokens(after)


@pytest.mark.parametrize(("ask", "has_topics", "_overtakes", "beside"), ASKED)
def test_a_change_of_what_is_not_read_neither_waits_nor_has_the_request_decided_again(
    ask: Any, has_topics: bool, _overtakes: Any, beside: Any
) -> None:
    rig, before = cluster(has_topics=has_topics), cluster(has_topics=has_topics)
    long = Long(rig, ask(NAMES))
    long.reach("OPTIMISTIC")

    changed = rig.send(beside(NAMES), principal=ROOT)
    effects = long.end()
    before.ask(beside(NAMES), principal=ROOT)
    in_turn = Long(before, ask(NAMES))
    in_turn.end()

    assert changed in rig.replies
    assert Requeue not in kinds(effects)
    assert rig.controller.long.begun_again == 0
    assert codes(rig, long) == codes(before, in_turn)
    assert contents(rig) == contents(before)


@pytest.mark.parametrize(("ask", "has_topics", "_overtakes", "_beside"), ASKED)
def test_a_handler_reads_no_table_but_those_that_it_names(
    ask: Any, has_topics: bool, _overtakes: Any, _beside: Any
) -> None:
    rig = cluster(has_topics=has_topics)
    request = ask(NAMES)
    seen = watch_reads(rig)

    Long(rig, request).end()

    assert seen or ask is allowing  # which looks at what a table of its own counts
    assert {(name, key) for name, key, is_named in seen if not is_named} == set()


def test_a_deletion_by_id_is_decided_again_if_the_topic_goes() -> None:
    rig = cluster(has_topics=True)
    long = Long(rig, deleted_by_id(rig))
    long.reach("OPTIMISTIC")

    rig.ask(deleted(["b"]), principal=ROOT)
    long.end()

    assert rig.controller.long.begun_again == 1
    assert sorted(rig.state.topic_ids) == OTHERS


def test_a_dry_run_of_many_topics_holds_no_write() -> None:
    rig = active()
    long = Long(rig, replace(topics("a", "b"), validate_only=True))
    phases = set()
    while long.go_on():
        assert rig.controller.long.present is not None
        phases.add(rig.controller.long.present.phase.name)

    assert phases == {"FREE", "OPTIMISTIC"}
