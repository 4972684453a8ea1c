"""Batches are replayed into an image up to a bound, to the end of the bytes, or to the first damaged batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from records.batch import build_batch, seal
from records.frame import encode_record
from records.metadata.configs import FeatureLevelRecord
from tests.records.golden import files
from tools.offline import take_in as take_in_module
from tools.offline.image import Image
from tools.offline.log_file import DamagedLog, InvalidRecord
from tools.offline.take_in import Taken, last_batch, last_log_time_ms, take_checkpoint, take_in, whole_bytes

if TYPE_CHECKING:
    from pathlib import Path


def batch(offset: int, level: int, epoch: int = 3) -> bytes:
    value = encode_record(FeatureLevelRecord(name="group.version", feature_level=level), 0)
    return build_batch([value], base_offset=offset, leader_epoch=epoch, timestamp_ms=1000 + offset)


LOG = batch(5, 1) + batch(6, 2) + batch(7, 3, 4)
SIZE = len(batch(5, 1))


@pytest.mark.parametrize(
    ("offset", "end_offset", "taken", "level"),
    [
        (5, None, Taken(8, 4, 3 * SIZE), 3),
        (5, 7, Taken(7, 3, 2 * SIZE), 2),
        (6, None, Taken(8, 4, 3 * SIZE), 3),
        (8, None, Taken(8, None, 3 * SIZE), None),
        (5, 5, Taken(5, None, 0), None),
    ],
)
def test_batches_are_replayed_from_an_offset_up_to_a_bound(
    offset: int, end_offset: int | None, taken: Taken, level: int | None
) -> None:
    image = Image()

    assert take_in(image, LOG, offset, end_offset) == taken
    assert image.features.get("group.version") == level


def test_an_incomplete_batch_is_not_replayed() -> None:
    for size in range(SIZE, 2 * SIZE):
        image = Image()

        assert take_in(image, LOG[:size], 5, None) == Taken(6, 3, SIZE)
        assert (whole_bytes(LOG[:size]), last_batch(LOG[: whole_bytes(LOG[:size])])) == (SIZE, 0)
    assert (whole_bytes(LOG), last_batch(LOG)) == (3 * SIZE, 2 * SIZE)


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (batch(6, 2)[:-1] + b"\xff", "the CRC of the batch at offset 6 does not fit its bytes"),
        (batch(9, 2), "the batch at offset 9 does not follow offset 6"),
        (batch(6, 2)[:8] + b"\0\0\0\1" + batch(6, 2)[12:], "a batch of 1 bytes at offset 6"),
    ],
)
def test_a_damaged_batch_ends_the_replay_and_is_an_error_if_first(damaged: bytes, message: str) -> None:
    image = Image()

    assert take_in(image, batch(5, 1) + damaged, 5, None) == Taken(6, 3, SIZE)
    with pytest.raises(DamagedLog) as error:
        take_in(image, damaged, 6, None)

    assert str(error.value) == message
    assert image.features["group.version"] == 1


def test_the_time_of_a_snapshot_is_from_its_header() -> None:
    times = [last_log_time_ms(path.read_bytes()) for path in files("*.checkpoint") if path.name[0] == "0"]

    assert all(time >= 0 for time in times)
    assert max(times) > 1_600_000_000_000
    assert last_log_time_ms(LOG) == last_log_time_ms(b"") == -1


CHECKPOINTS = files("*.checkpoint")


def plain(image: Image) -> dict[str, Any]:
    topics = {topic_id: (topic.name, topic.partitions) for topic_id, topic in image.topics.items()}
    return {**vars(image), "topics": topics}


@pytest.mark.parametrize("window", [100, 1000, 1 << 24])
@pytest.mark.parametrize("path", CHECKPOINTS, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_a_checkpoint_is_replayed_in_windows(path: Path, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(take_in_module, "WINDOW_BYTES", window)
    data = path.read_bytes()
    whole, image = Image(), Image()
    sizes: list[int] = []

    assert take_in(whole, data, 0, None).position == len(data)
    take_checkpoint(image, str(path), 500, 7, sizes.append)

    whole.last_offset, whole.last_epoch, whole.last_time_ms = 499, 7, last_log_time_ms(data)
    assert plain(image) == plain(whole)
    assert sum(sizes) == len(data)


@pytest.mark.parametrize("window", [100, 1 << 24])
def test_a_damaged_checkpoint_is_refused(window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(take_in_module, "WINDOW_BYTES", window)
    data = CHECKPOINTS[0].read_bytes()
    file = tmp_path / "damaged"
    for damaged in (data[:-1], data[:-1] + b"\xff", data + b"\0", data[:100] + b"\xff" + data[101:]):
        file.write_bytes(damaged)

        with pytest.raises(DamagedLog):
            take_checkpoint(Image(), str(file), 500, 7)


@pytest.mark.parametrize("window", [100, 1 << 24])
def test_records_that_cannot_be_read_have_one_message_in_each_window(
    window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take_in_module, "WINDOW_BYTES", window)
    file = tmp_path / "damaged"
    file.write_bytes(batch(0, 1) + batch(1, 2) + seal(b"\1", 1, 2, 3, 1000))

    with pytest.raises(InvalidRecord, match="Found invalid record structure"):
        take_checkpoint(Image(), str(file), 500, 7)


@pytest.mark.parametrize(("more", "is_large"), [(1, False), (0, True)])
def test_a_large_checkpoint_may_be_replayed_by_columns(
    more: int, is_large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take_in_module, "LARGE_BYTES", SIZE + more)
    file = tmp_path / "checkpoint"
    file.write_bytes(batch(0, 1))
    image = Image()

    take_checkpoint(image, str(file), 1, 3)

    assert (image.is_large, image.features) == (is_large, {"group.version": 1})
