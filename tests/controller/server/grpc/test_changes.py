"""Committed changes read from a log: in order, from any offset, transactions completely or not at all."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.server.grpc import changes as changes_module
from controller.server.grpc.changes import CHUNK_RECORDS_MAX, Changes, Chunk, Compacted, InAborted
from controller.server.grpc.time_slices import TimeSlices
from raft.storage.log import LogLimits, MetadataLog, create_segment
from records.batch import build_batch
from records.frame import encode_record
from records.metadata.topics import TopicRecord
from records.metadata.transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from tests.raft.storage.batches import leader_change
from tests.raft.storage.disk import Disk

CONTROL = "control"
MARKS = {"begin": BeginTransactionRecord, "end": EndTransactionRecord, "abort": AbortTransactionRecord}


class Written:
    """A real log with batches, and a node's view of it. A name stands for the record of a topic."""

    def __init__(self, *given_batches: list[str] | str) -> None:
        disk = Disk()
        limits = LogLimits(segment_bytes_max=600)
        self.log = MetadataLog(disk, "", [create_segment(disk, "", 0)], [], [], limits)
        self.end = 0
        self.state = SimpleNamespace(stable_end_offset=0, committed_end_offset=0, loading=False)
        storage = SimpleNamespace(log=self.log, read=self.log.read)
        env = SimpleNamespace(cluster_id="cluster")
        self.node: Any = SimpleNamespace(storage=storage, controller=SimpleNamespace(state=self.state, env=env))
        self.changes = Changes(self.node, TimeSlices())
        self.write(*given_batches)

    def write(self, *given_batches: list[str] | str, is_stable: bool = True) -> None:
        for words in given_batches:
            base = self.end
            if isinstance(words, str):
                assert words == CONTROL
                data, self.end = leader_change(base, 1), base + 1
            else:
                values = [_value(word) for word in words]
                data = build_batch(values, base_offset=base, leader_epoch=1, timestamp_ms=1000 + base)
                self.end = base + len(values)
            self.log.append(self.end, base, self.end, data)
        self.state.committed_end_offset = self.end
        if is_stable:
            self.state.stable_end_offset = self.end


def _value(word: str) -> bytes:
    if word == "noop":
        return encode_record(NoOpRecord(), 0)
    if word in MARKS:
        return encode_record(MARKS[word](), 0)
    return encode_record(TopicRecord(name=word, topic_id=word.encode().ljust(16, b".")), 0)


async def _chunks(changes: Changes, position: int) -> list[Chunk]:
    found = []
    while (chunk := await changes.after(position)) is not None:
        assert chunk.start == position < chunk.end
        found.append(chunk)
        position = chunk.end
    return found


def read(written: Written, position: int = 0) -> list[Chunk]:
    return asyncio.run(_chunks(written.changes, position))


def changes_of(chunks: list[Chunk]) -> list[tuple[int, str]]:
    """Offset and topic of each change."""
    unpacked = [msgpack.unpackb(change.packed) for chunk in chunks for change in chunk.changes]
    return [(change["offset"], change["data"]["name"]) for change in unpacked]


def wholes(chunks: list[Chunk]) -> list[list[str]]:
    """The names in groups that must be delivered together."""
    found: list[list[str]] = [[]]
    for chunk in chunks:
        found[-1] += [change.tree["name"] for change in chunk.changes]
        if not chunk.more:
            found.append([])
    return [names for names in found if names]


def test_a_change_has_its_offset_epoch_type_and_data() -> None:
    (chunk,) = read(Written(["a"]))

    assert msgpack.unpackb(chunk.changes[0].packed) == {
        "offset": 0,
        "timestamp": 1000,
        "epoch": 1,
        "type": "TOPIC_RECORD",
        "version": 0,
        "data": {"name": "a", "topicId": "YS4uLi4uLi4uLi4uLi4uLg"},
    }


def test_records_without_a_change_are_skipped_but_have_offsets() -> None:
    chunks = read(Written(CONTROL, ["noop"], ["a", "noop", "b"], ["noop"], CONTROL))

    assert changes_of(chunks) == [(2, "a"), (4, "b")]
    assert chunks[-1].end == 7


@pytest.mark.parametrize("position", range(8))
def test_a_reader_can_start_at_any_offset(position: int) -> None:
    written = Written(["a"], ["b", "c"], CONTROL, ["d", "e", "f"])

    expected = [(0, "a"), (1, "b"), (2, "c"), (4, "d"), (5, "e"), (6, "f")]
    assert changes_of(read(written, position)) == [one for one in expected if one[0] >= position]


def test_records_above_the_stable_offset_are_not_read() -> None:
    written = Written(["a"])
    written.write(["b"], is_stable=False)

    before = changes_of(read(written))
    written.state.stable_end_offset = written.end
    after = changes_of(read(written))

    assert (before, after) == ([(0, "a")], [(0, "a"), (1, "b")])


def test_a_transaction_is_delivered_as_one() -> None:
    chunks = read(Written(["a"], ["begin", "b"], ["c"], ["d", "end"], ["e"]))

    assert changes_of(chunks) == [(0, "a"), (2, "b"), (3, "c"), (4, "d"), (6, "e")]
    assert any({"b", "c", "d"} <= set(names) for names in wholes(chunks))


def test_an_aborted_transaction_is_not_delivered() -> None:
    chunks = read(Written(["a"], ["begin"], ["b"], ["c", "abort"], ["d"], ["begin"], ["abort"], ["e"]))

    assert changes_of(chunks) == [(0, "a"), (5, "d"), (8, "e")]


def test_an_open_transaction_is_not_read_before_its_end() -> None:
    written = Written(["a"])
    written.write(["begin"], ["b"], is_stable=False)

    while_open = read(written)
    written.write(["abort"], ["c"])
    after = read(written, while_open[-1].end)

    assert (changes_of(while_open), changes_of(after)) == ([(0, "a")], [(4, "c")])


def test_a_start_inside_an_aborted_transaction_is_an_error() -> None:
    written = Written(["begin"], ["a"], ["abort"], ["b"])

    with pytest.raises(InAborted) as refused:
        read(written, 1)

    assert refused.value.start == 3


def test_all_but_the_last_chunk_of_a_large_batch_have_more() -> None:
    names = [f"topic-{number}" for number in range(CHUNK_RECORDS_MAX * 2 + 10)]

    chunks = read(Written(["a"], names, ["b"]))

    assert any(set(names) <= set(whole) for whole in wholes(chunks))
    assert max(len(chunk.changes) for chunk in chunks) <= CHUNK_RECORDS_MAX


@pytest.mark.parametrize("per_batch", [1, 40, 3 * CHUNK_RECORDS_MAX])
def test_all_but_the_last_chunk_of_a_large_transaction_have_more(per_batch: int) -> None:
    names = [f"topic-{number}" for number in range(3 * CHUNK_RECORDS_MAX)]
    inner = [names[at : at + per_batch] for at in range(0, len(names), per_batch)]

    chunks = read(Written(["a"], ["begin"], *inner, ["end"], ["b"]))

    assert any(set(names) <= set(whole) for whole in wholes(chunks))
    assert changes_of(chunks)[1:-1] == list(enumerate(names, start=2))


def test_an_offset_below_the_log_start_is_refused_with_the_log_start() -> None:
    written = Written(*[[f"t{number}"] for number in range(40)])
    written.log.advance_start(99, 20)

    with pytest.raises(Compacted) as refused:
        read(written, 0)
    start = refused.value.start

    assert 0 < start <= 20
    assert changes_of(read(written, start))[0][0] == start


def test_watchers_at_the_same_offset_share_the_chunks_read(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(*[[f"t{number}"] for number in range(50)])
    made: list[int] = []
    original = changes_module.change_of

    def counted(record: Any, epoch: int) -> Any:
        made.append(record.offset)
        return original(record, epoch)

    monkeypatch.setattr(changes_module, "change_of", counted)

    first, second = read(written), read(written)

    assert changes_of(first) == changes_of(second)
    assert made == list(range(50))


@given(
    st.lists(
        st.one_of(
            st.just(CONTROL),
            st.lists(st.sampled_from(["x", "y", "noop"]), min_size=1, max_size=4),
            st.sampled_from([["begin"], ["end"], ["abort"]]),
        ),
        max_size=25,
    ),
    st.data(),
)
def test_reading_from_each_delivered_offset_gives_the_rest(steps: list[Any], data: st.DataObject) -> None:
    legal: list[Any] = []
    is_open = False
    for step in steps:
        if step in (["begin"], ["end"], ["abort"]) and is_open == (step == ["begin"]):
            continue
        is_open = step == ["begin"] if step in (["begin"], ["end"], ["abort"]) else is_open
        legal.append(step)
    if is_open:
        legal.append(["end"])
    written = Written(*legal)

    chunks = read(written)
    places = [0, *(chunk.end for chunk in chunks if not chunk.more)]
    position = data.draw(st.sampled_from(places))
    # Another reader, which has not seen the transaction.
    again = Changes(written.node, TimeSlices())

    rest = changes_of(asyncio.run(_chunks(again, position)))

    assert changes_of(chunks) == _expected(legal)
    assert rest == [one for one in changes_of(chunks) if one[0] >= position]


def _expected(steps: list[Any]) -> list[tuple[int, str]]:
    """The expected changes, calculated from the complete log."""
    found: list[tuple[int, str]] = []
    held: list[tuple[int, str]] | None = None
    offset = 0
    for step in steps:
        for word in [CONTROL] if isinstance(step, str) else step:
            if word == "begin":
                held = []
            elif word in {"end", "abort"}:
                found += held if word == "end" and held is not None else []
                held = None
            elif word not in {CONTROL, "noop"}:
                (found if held is None else held).append((offset, word))
            offset += 1
    return found
