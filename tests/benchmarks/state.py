"""CPU time of the controller's state: `python -m tests.benchmarks.state [PARTITIONS [TOPICS]]`.

CPU time of one thread, the least of several rounds. Fencing is of one broker of ten at replication factor 3.
"""

from __future__ import annotations

import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

from controller.interface.env import Env
from controller.interface.settings import Settings
from controller.rules.bulk_elections import leader_and_isr_changes
from controller.state.partitions.bulk_batches import load_batch
from controller.state.snapshots import batches as snapshot_batches
from controller.state.snapshots import steps
from controller.state.state import State
from controller.state.view import stable_view
from raft.storage.snapshot_file import SnapshotBytes
from records.batch import batches, seal
from records.bulk.rows import batch_body
from records.metadata.brokers import RegisterBrokerRecord
from records.metadata.configs import FeatureLevelRecord
from records.metadata.topics import PartitionRecord, TopicRecord
from tests.controller.one_by_one import leader_and_isr_changes as one_by_one

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BROKER_IDS = range(10)
FENCED = 3
EPOCH, TIME_MS = 1, 1_700_000_000_000


def cluster(partition_count: int, topic_count: int, broker_ids: range = BROKER_IDS) -> State:
    """A healthy cluster, all committed."""
    random = Random(1)
    state = State()
    state.commit(1 << 62)
    directories = {broker: b"directory of" + broker.to_bytes(4, "big") for broker in broker_ids}
    records: list[Any] = [
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1),
    ]
    for broker, directory in directories.items():
        records.append(
            RegisterBrokerRecord(
                broker_id=broker, incarnation_id=bytes(16), broker_epoch=broker, end_points=(), features=(), rack=None,
                fenced=False, log_dirs=(directory,),
            )
        )  # fmt: skip
    for topic in range(topic_count):
        topic_id = random.randbytes(16)
        records.append(TopicRecord(name=f"topic-{topic}", topic_id=topic_id))
        for partition_id in range(partition_count // topic_count):
            replicas = tuple(random.sample(broker_ids, 3))
            records.append(
                PartitionRecord(
                    partition_id=partition_id, topic_id=topic_id, replicas=replicas, isr=replicas,
                    removing_replicas=(), adding_replicas=(), leader=replicas[0], leader_epoch=0, partition_epoch=0,
                    directories=tuple(directories[broker] for broker in replicas),
                )
            )  # fmt: skip
    for record in records:
        state.replay(record, state.end_offset)
    state.committed_end_offset = state.end_offset
    state.commit(state.end_offset)
    return state


def write_checkpoint(state: State, directory: Path) -> Path:
    """The checkpoint of a state, and an empty log behind it, in the directory of the metadata partition."""
    directory.mkdir(exist_ok=True)
    path = directory / f"{state.end_offset:020d}-{EPOCH:010d}.checkpoint"
    written = SnapshotBytes(EPOCH, TIME_MS)
    with path.open("wb") as file:
        file.write(written.header(TIME_MS))
        for body, count in filter(None, steps(stable_view(state))):
            file.write(written.body(body, count))
        file.write(written.footer())
    (directory / f"{state.end_offset:020d}.log").touch()
    return path


def least_ms(work: Callable[[], Any], after: Callable[[], Any] = lambda: None, rounds: int = 5) -> float:
    """The CPU time of the best round; `after` is not counted."""
    found = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        found.append(time.thread_time() - start)
        after()
    return 1000 * min(found)


def load(parts: list[bytes], end_offset: int) -> State:
    state = State()
    state.begin_load(end_offset)
    for data in parts:
        for batch in batches(data):
            load_batch(state, data, batch)
    state.end_load()
    return state


def resident_mib() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096 / 2**20


def main(partition_count: int, topic_count: int) -> None:
    before = resident_mib()
    state = cluster(partition_count, topic_count)
    env = Env(cluster_id="c", node_id=1, random=Random(1), settings=Settings(min_insync_replicas=3))
    rows = state.partitions.in_isr(FENCED)
    changes = leader_and_isr_changes(state, env, rows, removed=FENCED)
    view = stable_view(state)
    parts = list(snapshot_batches(view, base_offset=1, leader_epoch=1, timestamp_ms=1))
    scalar = [record for record, _ in one_by_one(state, env, rows.tolist(), removed=FENCED)]

    def encode() -> None:
        body, count = batch_body(changes.parts(state.partitions, 2))
        seal(body, count, state.end_offset, 1, 1)

    def replay_scalar() -> None:
        for record in scalar:
            state.replay(record, state.end_offset)

    figures = {
        f"fence {len(changes)} partitions: find them": least_ms(lambda: state.partitions.in_isr(FENCED)),
        "  decide": least_ms(lambda: leader_and_isr_changes(state, env, rows, removed=FENCED)),
        "  encode, with CRC": least_ms(encode),
        "  replay, with undo": least_ms(lambda: state.replay_changes(changes, state.end_offset), state.revert),
        "  decide one by one": least_ms(lambda: one_by_one(state, env, rows.tolist(), removed=FENCED), rounds=2),
        "  replay one by one": least_ms(replay_scalar, state.revert, rounds=2),
        f"snapshot of {partition_count} partitions: view": least_ms(lambda: stable_view(state)),
        f"  write {sum(map(len, parts)) >> 20} MiB": least_ms(
            lambda: list(snapshot_batches(view, base_offset=1, leader_epoch=1, timestamp_ms=1))
        ),
        "  load": least_ms(lambda: load(parts, state.end_offset), rounds=3),
    }
    for what, figure in figures.items():
        print(f"{what:48} {figure:9.2f} ms")
    print(f"{'resident before the cluster':48} {before:9.1f} MiB")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(given[0] if given else 100_000, given[1] if len(given) > 1 else 100)
