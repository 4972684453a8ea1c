"""The contents of a `.log` or `.checkpoint` file, batch by batch, as kafka-dump-log prints them."""

from __future__ import annotations

from tools.command_line.java_texts import Uncaught, absolute, parse_integer
from tools.command_line.progress import SHOW_AFTER_S_OF_KAFKA, Progress
from tools.kafka.dump_log.dump_findings import GAP
from tools.kafka.dump_log.dump_lines import Run, TextLines
from tools.kafka.dump_log.payloads import control_fields, metadata_texts, parser_of
from tools.offline.log_file import COMPRESSIONS, LARGEST_FILE, MAGIC, LogFile, StoredBatch
from tools.offline.stored_records import StoredRecord, records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tools.command_line.options import Options
    from tools.kafka.dump_log.dump_findings import Findings
    from tools.kafka.dump_log.dump_lines import JsonLines
    from tools.kafka.dump_log.payloads import Parser
    from tools.kafka.dump_log.record_runs import RecordRuns

# Smaller files are printed record by record, which needs fewer imports.
RUNS_BYTES_MIN = 1 << 17
_SNAPSHOT_NAME_LENGTH = 31  # 20 digits of offset, a hyphen, 10 of epoch


def dump_batches(file: str, options: Options, printing: bool, lines: TextLines | JsonLines, findings: Findings) -> None:
    """Print a file. printing: whether keys and values are printed too.

    Raises OSError, DamagedLog or Uncaught where stock ends too, after printing the batches before the error.
    """
    deep = printing or options.has("deep-iteration")
    parser = parser_of(options)
    skip_metadata = options.has("skip-record-metadata")
    max_bytes = options.value("max-bytes")
    _print_title(file, lines)
    position = 0
    last_offset = -1
    with (
        LogFile(file) as log,
        Progress(file, min(log.size, max_bytes), after_s=SHOW_AFTER_S_OF_KAFKA, prints=True) as note,
    ):
        if max_bytes < 0:
            raise Uncaught(
                "java.lang.IllegalArgumentException",
                f"Invalid size: {max_bytes} in read from {log.describe(0, LARGEST_FILE)}",
            )
        end = min(log.size, max_bytes)
        is_text = printing and isinstance(lines, TextLines) and options.has("cluster-metadata-decoder")
        runs = _runs(skip_metadata) if is_text and end >= RUNS_BYTES_MIN else None
        for batch in log.batches(0, end):
            lines.line("batch", batch_fields(batch))
            position = batch.position + len(batch.data)
            note(position)
            if not deep:
                continue
            for record in (runs.read(batch) if runs is not None else None) or records_of(batch):
                if isinstance(record, Run):
                    assert isinstance(lines, TextLines), "JSON has no runs"
                    if record.first_offset != last_offset + 1:
                        findings.add(GAP, absolute(file), last_offset, record.first_offset)
                    last_offset = record.last_offset
                    lines.run(record)
                    continue
                if record.offset != last_offset + 1:
                    findings.add(GAP, absolute(file), last_offset, record.offset)
                last_offset = record.offset
                lines.line("record", record_fields(batch, record, parser if printing else None, skip_metadata))
    if position < end and max_bytes == LARGEST_FILE:
        name = file.rpartition("/")[2]
        lines.note(f"Found {end - position} invalid bytes at the end of {name}", invalidBytesAtEnd=end - position)


def _runs(skip_metadata: bool) -> RecordRuns:
    """What prints the records of large files, those of partitions many at a time."""
    from tools.kafka.dump_log.record_runs import RecordRuns

    return RecordRuns(lambda batch, record: record_fields(batch, record, metadata_texts, skip_metadata))


def _print_title(file: str, lines: TextLines | JsonLines) -> None:
    name = file.rpartition("/")[2]
    if name.endswith(".log"):
        offset = parse_integer(name.partition(".")[0], 64)
        lines.note(f"Log starting offset: {offset}", logStartOffset=offset)
    elif name == "bootstrap.checkpoint":
        lines.note("KRaft bootstrap snapshot", bootstrap=True)
    elif len(name) < _SNAPSHOT_NAME_LENGTH:
        raise Uncaught("java.lang.StringIndexOutOfBoundsException", f"begin 0, end 20, length {len(name)}")
    else:
        offset, epoch = parse_integer(name[:20], 64), parse_integer(name[21:_SNAPSHOT_NAME_LENGTH])
        lines.note(f"Snapshot end offset: {offset}, epoch: {epoch}", snapshotEndOffset=offset, snapshotEpoch=epoch)


def batch_fields(batch: StoredBatch) -> Iterator[tuple[str, Any]]:
    """The printed fields of a batch's header, in order."""
    if batch.magic < MAGIC:
        yield "offset", batch.last_offset
    else:
        yield "baseOffset", batch.base_offset
        yield "lastOffset", batch.last_offset
        yield "count", batch.record_count
        yield "baseSequence", batch.base_sequence
        yield "lastSequence", batch.last_sequence
        yield "producerId", batch.producer_id
        yield "producerEpoch", batch.producer_epoch
        yield "partitionLeaderEpoch", batch.leader_epoch
        yield "isTransactional", batch.is_transactional
        yield "isControl", batch.is_control
        yield "deleteHorizonMs", batch.delete_horizon_ms
    if batch.compression >= len(COMPRESSIONS):
        raise Uncaught("java.lang.IllegalArgumentException", f"Unknown compression type id: {batch.compression}")
    yield "position", batch.position
    yield timestamp_type(batch), batch.max_timestamp
    yield "size", len(batch.data)
    yield "magic", batch.magic
    yield "compresscodec", COMPRESSIONS[batch.compression]
    yield "crc", batch.crc
    yield "isvalid", batch.is_intact()


def timestamp_type(batch: StoredBatch) -> str:
    if batch.magic < 1:
        return "NoTimestampType"
    return "LogAppendTime" if batch.is_append_time else "CreateTime"


def record_fields(
    batch: StoredBatch, record: StoredRecord, parser: Parser | None, skip_metadata: bool
) -> Iterator[tuple[str, Any]]:
    """The printed fields of a record, in order. parser: None if keys and values are not printed."""
    if not skip_metadata:
        yield "offset", record.offset
        yield timestamp_type(batch), record.timestamp
        yield "keySize", -1 if record.key is None else len(record.key)
        yield "valueSize", -1 if record.value is None else len(record.value)
        yield "sequence", record.sequence
        yield "headerKeys", record.header_keys
        if batch.is_control:
            yield from control_fields(record)
    if parser is not None and not batch.is_control:
        key, value = parser(record)
        if key is not None:
            yield "key", key
        if value is not None:
            yield "payload", value
