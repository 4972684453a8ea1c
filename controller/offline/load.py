"""Loading the image of a file: a checkpoint, or a segment of a log, which gives only what it holds."""

from __future__ import annotations

from controller.offline.image import Image
from controller.offline.log_file import LogFile
from controller.offline.metadata_values import MetadataError, metadata_record
from controller.offline.stored_records import records_of


def load_image(path: str) -> Image:
    """The image of all whole batches in a file.

    What cannot be read of a batch is in the problems of the image. Raises OSError where the file cannot be opened, and
    DamagedLog where its batches cannot be told apart.
    """
    image = Image()
    with LogFile(path) as log:
        for batch in log.batches():
            if not batch.is_intact():
                image.problem(batch.base_offset, "the CRC of this batch does not fit its bytes")
            if batch.is_control:
                continue
            records = []
            for record in records_of(batch):
                try:
                    records.append((metadata_record(record.value)[0], record.offset))
                except MetadataError as error:
                    image.problem(record.offset, f"unable to read metadata record: {error}")
            image.take_batch(records, batch.last_offset, batch.leader_epoch, batch.max_timestamp)
    return image
