"""Loading the image of one file: a checkpoint, or one segment of a log."""

from __future__ import annotations

from tools.offline.image import LARGE_BYTES, Image
from tools.offline.log_file import LogFile
from tools.offline.metadata_values import MetadataError, metadata_record
from tools.offline.stored_records import records_of
from tools.offline.take_in import take_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def load_image(path: str, progress: Callable[[int, int], None] = lambda _done, _total: None) -> Image:
    """The image of all complete batches in a file.

    progress: called with the bytes that were read, and how many there are. Unreadable records are among the problems of
    the image. Raises OSError if the file cannot be opened, DamagedLog if the boundaries of its batches are damaged.
    """
    image = Image()
    with LogFile(path) as log:
        image.is_large = log.size >= LARGE_BYTES
        for batch in log.batches():
            progress(batch.position, log.size)
            if not batch.is_intact():
                image.problem(batch.base_offset, "the CRC of this batch does not fit its bytes")
            if batch.is_control or take_columns(image, batch):
                continue
            records = []
            for record in records_of(batch):
                try:
                    records.append((metadata_record(record.value)[0], record.offset))
                except MetadataError as error:
                    image.problem(record.offset, f"unable to read metadata record: {error}")
            image.take_batch(records, batch.last_offset, batch.leader_epoch, batch.max_timestamp)
    return image
