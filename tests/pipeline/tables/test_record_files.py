from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.schemas import RECORDS
from pipeline.source.columns import batch_of_findings, schema_of
from pipeline.source.ranges import Finding
from pipeline.tables import record_files
from pipeline.tables.record_files import Span, Written, begin, known_findings, show, span_of, write_file
from tests.pipeline.logs import GOLDEN, read

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOTHING: frozenset[tuple[str, str]] = frozenset()


def findings(*kinds: str) -> Any:
    """A batch with a finding of each kind, without a cluster."""
    found = [Finding(None, None, "file", 0, None, kind, f"a {kind} part") for kind in kinds]
    return batch_of_findings(found, schema_of(RECORDS.names))


def test_a_file_holds_the_rows_of_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_files, "GROUP_ROWS", 100)
    rows = read(GOLDEN / "4.3-static" / "node-1")
    begin(tmp_path / "records")

    written = list(write_file(str(tmp_path / "records"), rows.to_batches(max_chunksize=30), NOTHING))
    hidden = list((tmp_path / "records").iterdir())
    show(tmp_path / "records", [one.file for one in written])

    assert [one.rows for one in written] == [rows.num_rows]
    assert [path.name for path in hidden] == [f".{written[0].file}"]
    assert pq.read_table(tmp_path / "records").to_pylist() == rows.to_pylist()


def test_a_file_states_the_offsets_of_each_cluster_and_the_epoch_of_its_last_record(tmp_path: Path) -> None:
    rows = read(GOLDEN / "4.3-static" / "node-1")
    offsets = [row["offset"] for row in rows.to_pylist()]
    last = max((row["offset"], row["epoch"]) for row in rows.to_pylist() if row["kind"] in ("record", "control"))

    written = list(write_file(str(tmp_path), [*rows.to_batches(), findings("skipped")], NOTHING))

    assert span_of(written) == {
        rows["cluster"][0].as_py(): Span(min(offsets), max(offsets), *last),
        None: Span(None, None, None, None),
    }


def test_the_spans_of_two_files_are_joined(tmp_path: Path) -> None:
    rows = read(GOLDEN / "4.3-static" / "node-1")
    begin(tmp_path / "records")
    whole = list(write_file(str(tmp_path), rows.to_batches(), NOTHING))

    halves = (rows.slice(200), rows.slice(0, 200))
    parts = [one for half in halves for one in write_file(str(tmp_path), half.to_batches(), NOTHING)]

    assert len(parts) == 2
    assert span_of(parts) == span_of(whole)
    assert [Written.of(one.text()) for one in parts] == parts


def test_a_finding_that_is_known_is_not_written_again(tmp_path: Path) -> None:
    begin(tmp_path)
    first = list(write_file(str(tmp_path), [findings("torn", "skipped")], NOTHING))
    show(tmp_path, [one.file for one in first])
    known = known_findings([str(tmp_path)])

    again = list(write_file(str(tmp_path), [findings("torn", "skipped")], known))
    more = list(write_file(str(tmp_path), [findings("torn", "gap")], known))

    assert first[0].findings == [("torn", "a torn part")]
    assert known == {("torn", "a torn part"), ("skipped", "a skipped part")}
    assert again == []
    assert more[0].findings == [("gap", "a gap part")]
    assert more[0].rows == 1


def test_files_of_other_attempts_are_removed(tmp_path: Path) -> None:
    begin(tmp_path / "records")
    lost = list(write_file(str(tmp_path / "records"), [findings("torn")], NOTHING))
    kept = list(write_file(str(tmp_path / "records"), [findings("torn")], NOTHING))

    show(tmp_path / "records", [one.file for one in kept])
    names = [path.name for path in (tmp_path / "records").iterdir()]
    begin(tmp_path / "records")

    assert lost[0].file != kept[0].file
    assert names == [kept[0].file]
    assert not list((tmp_path / "records").iterdir())


def test_the_schema_of_a_file_is_that_of_the_table(tmp_path: Path) -> None:
    written = list(write_file(str(tmp_path), [findings("gap")], NOTHING))

    schema = pq.read_schema(tmp_path / f".{written[0].file}")

    assert schema.names == list(RECORDS.names)
    assert schema.field("time").type == pa.timestamp("us", tz="UTC")
    assert schema.field("replicas").type.value_type == pa.int32()
