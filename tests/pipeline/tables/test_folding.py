"""Jobs: a task for each file and for each bucket, and what the driver makes of their results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.histories import Size, write_history
from pipeline.tables import folding, record_files
from pipeline.tables.buckets import Bounds
from pipeline.tables.history import Events, Moment
from pipeline.tables.partitions import OPEN, STATE
from tests.pipeline.logs import read
from tests.pipeline.tables.in_process import Context, Items, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

ALL = Bounds({}, {})
SIZE = Size(1_200, 100, brokers=5, partitions_per_topic=20)


class Recording(Session):
    """A session that remembers the items of each job."""

    def __init__(self, cores: int = 1) -> None:
        self.jobs: list[list[Any]] = []
        self.sparkContext = _RecordingContext(self.jobs, cores)


class _RecordingContext(Context):
    def __init__(self, jobs: list[list[Any]], cores: int) -> None:
        self.jobs = jobs
        self.defaultParallelism = cores

    def parallelize(self, items: Sequence[Any], tasks: int) -> Items:
        assert tasks == len(items)
        self.jobs.append(list(items))
        return super().parallelize(items, tasks)


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The rows of the logs of two clusters."""
    found = {}
    for seed in (1, 2):
        node = tmp_path_factory.mktemp("history") / "node"
        cluster = write_history(node, replace(SIZE, records=600 * seed), seed)
        found[cluster] = read(node)
    return found


def records_of(directory: Path, tables: Sequence[Any]) -> str:
    """A directory of the table `records` with a file of each of these tables."""
    record_files.begin(directory)
    files = [
        written.file
        for table in tables
        for written in record_files.write_file(str(directory), table.to_batches(), frozenset())
    ]
    record_files.show(directory, files)
    return str(directory)


def parts_of(rows: Any, count: int) -> list[Any]:
    size = len(rows) // count + 1
    return [rows.slice(begin, size) for begin in range(0, len(rows), size)]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    path = tmp_path / "scratch"
    path.mkdir()
    return path


def test_files_are_divided_by_tasks_of_their_own(tmp_path: Path, scratch: Path, histories: dict[str, Any]) -> None:
    first, second = histories.values()
    directories = [records_of(tmp_path / "1", [*parts_of(first, 2), second]), records_of(tmp_path / "2", [second])]
    session = Recording()

    division = folding.divide(session, directories, (), ALL, scratch)

    assert [len(job) for job in session.jobs] == [4]
    assert division.clusters == set(histories)
    of_partitions = [pa.compute.sum(pa.compute.is_in(rows["type"], pa.array([3, 5], pa.int32()))).as_py()
                     for rows in (first, second)]  # fmt: skip
    assert division.rows == of_partitions[0] + 2 * of_partitions[1]
    assert {cluster for cluster, _ in division.slices} == set(histories)
    assert sum(one.rows for some in division.slices.values() for one in some) == division.rows


def test_the_other_records_of_all_files_are_in_the_order_of_the_logs(
    tmp_path: Path, scratch: Path, histories: dict[str, Any]
) -> None:
    """Names of files say nothing about it."""
    rows = pa.concat_tables(histories.values())
    directory = records_of(tmp_path / "records", parts_of(rows, 7)[::-1])

    others = folding.divide(Recording(), [directory], (), ALL, scratch).others

    places = list(zip(others["cluster"].to_pylist(), others["offset"].to_pylist(), strict=True))
    assert places == sorted(places)
    assert {cluster for cluster, _ in places} == set(histories)


def test_no_file_is_no_job(scratch: Path) -> None:
    session = Recording()

    division = folding.divide(session, (), (), ALL, scratch)
    parts = folding.fold(session, division, {}, scratch / "tables")

    assert (division.rows, division.clusters, dict(division.slices), len(division.others)) == (0, set(), {}, 0)
    assert parts == []
    assert session.jobs == []


@pytest.mark.parametrize(
    ("cores", "rows_min", "rows_per_bucket", "wanted"),
    [(2, 1 << 30, 1 << 30, 1), (2, 100, 1 << 30, 4), (2, 1 << 30, 100, 10), (8, 100, 1 << 30, 10)],
)
def test_a_cluster_has_buckets_by_its_rows_and_some_for_each_core(
    cores: int, rows_min: int, rows_per_bucket: int, wanted: int, tmp_path: Path, scratch: Path,
    monkeypatch: pytest.MonkeyPatch, histories: dict[str, Any],
) -> None:  # fmt: skip
    monkeypatch.setattr(folding, "_ROWS_MIN", rows_min)
    monkeypatch.setattr(folding, "_ROWS_PER_BUCKET", rows_per_bucket)
    rows = list(histories.values())[1].slice(0, 1_050)
    directory = records_of(tmp_path / "records", parts_of(rows, 2))

    division = folding.divide(Recording(cores), [directory], (), ALL, scratch)

    assert len(division.slices) == wanted


def test_the_largest_bucket_is_folded_first_and_each_has_the_events_of_its_cluster(
    tmp_path: Path, scratch: Path, histories: dict[str, Any]
) -> None:
    small, large = histories
    directory = records_of(tmp_path / "records", list(histories.values()))
    session = Recording()
    division = folding.divide(session, [directory], (), ALL, scratch)
    topics = set(histories[large]["topic_id"].drop_null().to_pylist())
    end = len(histories[large]) + 1_000
    events = {large: Events(removed=dict.fromkeys(topics, Moment(end, 0)))}

    parts = folding.fold(session, division, events, tmp_path / "tables")

    assert [key for key, _ in session.jobs[1]] == [(large, 0), (small, 0)]
    clusters = {
        name: set(pq.read_table(tmp_path / "tables" / f"part={name}", partitioning=None)["cluster"].to_pylist())
        for name in (STATE, "leadership", OPEN + "leadership")
    }
    assert clusters == {STATE: {small}, "leadership": {small, large}, OPEN + "leadership": {small}}
    assert {part.name for part in parts} >= set(clusters)


def test_states_are_folded_with_the_records_after_them(
    tmp_path: Path, scratch: Path, histories: dict[str, Any]
) -> None:
    """The rows of states do not count as records."""
    cluster, rows = list(histories.items())[1]
    directory = records_of(tmp_path / "records", parts_of(rows, 3))
    names = frozenset((STATE,))
    cut = rows["offset"][600].as_py()

    def fold(states: Sequence[str], bounds: Bounds, target: str) -> tuple[int, Callable[[], Any]]:
        division = folding.divide(Session(), [directory], states, bounds, scratch)
        parts = folding.fold(Session(), division, {}, tmp_path / target, names=names)
        assert {part.name for part in parts} == names
        key = [("topic_id", "ascending"), ("partition", "ascending")]
        table = pq.read_table(tmp_path / target / f"part={STATE}", partitioning=None)
        return division.rows, table.sort_by(key).to_pylist

    every, whole = fold((), ALL, "whole")
    first, _ = fold((), Bounds({}, {cluster: cut}), "first")
    second, again = fold([str(tmp_path / "first" / f"part={STATE}")], Bounds({cluster: cut}, {}), "second")

    assert again() == whole()
    assert first + second == every
    assert first > 100 < second
