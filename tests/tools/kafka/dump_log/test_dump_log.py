"""kafka-dump-log where its output differs from stock's; the rest is in `test_stock_answers.py`."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import sys
from typing import TYPE_CHECKING

import pytest

from records.batch import build_batch, build_control_batch
from records.frame import encode_record
from records.metadata.topics import TopicRecord
from tests.tools.kafka.cases import GOLDEN, ours
from tools.kafka.dump_log import dump_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

PARTITION = GOLDEN / "4.3-static/node-1/__cluster_metadata-0"
BOOTSTRAP = GOLDEN / "4.3-dynamic/node-1/bootstrap.checkpoint"


def lines(*args: str) -> list[dict[str, Any]]:
    found = ours("dump-log", list(args))
    assert (found["stderr"], found["exit"]) == ("", 0)
    return [json.loads(line) for line in found["stdout"].splitlines()]


def test_json_has_an_object_for_each_batch_and_record() -> None:
    found = lines("--json", "--cluster-metadata-decoder", "--files", str(BOOTSTRAP))

    assert [line["kind"] for line in found] == ["file", "note", "batch", "record", "batch"] + ["record"] * 6 + [
        "batch", "record",
    ]  # fmt: skip
    assert all(line["file"] == str(BOOTSTRAP) for line in found)
    assert found[5] == {
        "kind": "record",
        "file": str(BOOTSTRAP),
        "offset": 1,
        "CreateTime": found[5]["CreateTime"],
        "keySize": -1,
        "valueSize": 23,
        "sequence": -1,
        "headerKeys": [],
        "payload": {
            "type": "FEATURE_LEVEL_RECORD",
            "version": 0,
            "data": {"name": "metadata.version", "featureLevel": 30},
        },
    }
    assert found[3]["SnapshotHeader"] == {"version": 0, "lastContainedLogTimestamp": 0}
    assert (found[4]["isvalid"], found[4]["deleteHorizonMs"]) == (True, None)


def test_json_of_an_index_has_an_object_for_each_entry() -> None:
    found = lines("--json", "--files", str(PARTITION / "00000000000000000000.index"))

    assert found[1] == {
        "kind": "entry",
        "file": str(PARTITION / "00000000000000000000.index"),
        "offset": found[1]["offset"],
        "position": found[1]["position"],
    }


def test_records_of_unknown_topics_are_not_decoded(tmp_path: Path) -> None:
    file = tmp_path / "00000000000000000000.log"
    file.touch()

    found = [ours("dump-log", [f"--{name}", "--files", str(file)]) for name in dump_log.UNKNOWN_TOPICS]

    assert [(answer["stdout"], answer["exit"]) for answer in found] == [("", 1)] * 4
    assert found[0]["stderr"].startswith("--offsets-decoder: the records of __consumer_offsets cannot be decoded")


def test_compressed_batches_are_read(tmp_path: Path) -> None:
    value = encode_record(TopicRecord(name="orders", topic_id=bytes(15) + b"\7"), 0)
    plain = build_batch([value], base_offset=5, leader_epoch=1, timestamp_ms=9)
    file = tmp_path / "00000000000000000005.log"
    file.write_bytes(compressed(plain))

    found = lines("--json", "--cluster-metadata-decoder", "--files", str(file))

    assert found[-1] == {"kind": "offsetGap", "file": str(file), "offset": -1, "nextOffset": 5}
    assert found[2]["compresscodec"] == "gzip"
    assert found[3]["payload"]["data"] == {"name": "orders", "topicId": "AAAAAAAAAAAAAAAAAAAABw"}


def compressed(batch: bytes) -> bytes:
    """The batch with its records compressed by gzip, and with the new CRC."""
    from records.crc import crc32c

    body = gzip.compress(batch[61:], mtime=0)
    checked = (1).to_bytes(2, "big") + batch[23:61] + body
    length = (len(checked) + 9).to_bytes(4, "big")
    return batch[:8] + length + batch[12:17] + crc32c(checked).to_bytes(4, "big") + checked


def test_a_control_record_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(build_control_batch([(b"\0\0\0\6", b"\0\0\5")], base_offset=0, leader_epoch=1, timestamp_ms=0))

    found = ours("dump-log", ["--print-data-log", "--files", str(file)])

    assert found["exit"] == 1
    assert found["stdout"].endswith("headerKeys: []")
    assert found["stderr"].startswith(
        'Exception in thread "main" org.apache.kafka.common.InvalidRecordException: VotersRecord v0 '
    )


def test_a_transaction_marker_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(
        build_control_batch([(b"\0\0\0\0", b"\0\0\0\0\0\7"), (b"\0\0\0\x09", b"")], base_offset=0, leader_epoch=1,
                            timestamp_ms=0)
    )  # fmt: skip

    found = ours("dump-log", ["--print-data-log", "--files", str(file)])["stdout"].splitlines()

    assert found[3].endswith(" endTxnMarker: ABORT coordinatorEpoch: 7")
    assert found[4].endswith(" controlType: UNKNOWN(9)")


def test_a_missing_index_is_not_created(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000000.log").touch()

    found = ours("dump-log", ["--files", str(tmp_path / "00000000000000000000.timeindex")])

    assert found["exit"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["00000000000000000000.log"]


def test_equal_timestamps_in_a_time_index_are_reported_as_out_of_order(tmp_path: Path) -> None:
    """As in stock: an index gets an entry only for a higher timestamp."""
    index = tmp_path / "00000000000000000000.timeindex"
    batches = [build_batch([b"x"], base_offset=at, leader_epoch=1, timestamp_ms=time)
               for at, time in enumerate((1000, 1000, 1001))]  # fmt: skip
    index.with_suffix(".log").write_bytes(b"".join(batches))
    index.with_suffix(".index").touch()
    index.write_bytes(b"".join(struct.pack(">qi", time, at) for at, time in enumerate((1000, 1000, 1001))))

    found = ours("dump-log", ["--files", str(index)])

    assert found["stderr"] == (
        f"Found out of order timestamp in :{index}\n  Index timestamp: 1000, Previously indexed timestamp: 1000\n"
    )


def test_dumping_an_index_does_not_truncate_it(tmp_path: Path) -> None:
    index = tmp_path / "00000000000000000000.index"
    index.write_bytes(b"\0" * 8 + b"\1\2\3")
    (tmp_path / "00000000000000000000.log").write_bytes((PARTITION / "00000000000000000000.log").read_bytes()[:200])

    ours("dump-log", ["--files", str(index)])

    assert index.stat().st_size == 11


@pytest.fixture(name="nobody")
def _nobody() -> Iterator[None]:
    """Root may read any file, so a test that runs as root becomes another user for a while."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65_534)
    yield
    os.seteuid(before)


def test_a_file_without_read_permission_is_reported(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file = tmp_path / "00000000000000000000.log"
    file.touch(mode=0)
    ours("dump-log", ["--files", str(PARTITION / file.name)])  # imports its modules as root
    request.getfixturevalue("nobody")

    found = ours("dump-log", ["--files", str(file)])

    assert found["stderr"] == f'Exception in thread "main" java.nio.file.AccessDeniedException: {file}\n'


def test_a_directory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "00000000000000000000.log"
    file.mkdir()

    found = ours("dump-log", ["--files", str(file)])

    assert (found["exit"], found["stderr"]) == (
        1,
        'Exception in thread "main" java.io.IOException: Is a directory\n',
    )


def test_one_batch_is_in_memory_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is read batch by batch: if the output closes after the first lines, the rest is never read."""
    read: list[int] = []

    class Closing(io.TextIOBase):
        def write(self, text: str) -> int:
            read.append(len(text))
            if sum(read) > 2000:
                raise BrokenPipeError
            return len(text)

    monkeypatch.setattr(sys, "stdout", Closing())

    with pytest.raises(BrokenPipeError):
        dump_log.run(["--cluster-metadata-decoder", "--files", str(PARTITION / "00000000000000000000.log")])

    assert sum(read) < 4000
