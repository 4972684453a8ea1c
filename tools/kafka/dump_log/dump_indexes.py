"""The files beside a log, as kafka-dump-log prints them: offset, time and transaction indexes, producer snapshots."""

from __future__ import annotations

from bisect import bisect_right
from struct import Struct

from tools.command_line.java_texts import Uncaught, absolute, parse_integer
from tools.command_line.standard_streams import complain
from tools.kafka.dump_log.dump_findings import INDEX_MISMATCH, NOT_FOUND, OUT_OF_ORDER, TIMESTAMP_MISMATCH
from tools.offline.log_file import LARGEST_FILE, LogFile
from tools.offline.stored_records import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.command_line.options import Options
    from tools.kafka.dump_log.dump_findings import Findings
    from tools.kafka.dump_log.dump_lines import JsonLines, TextLines

    Lines = JsonLines | TextLines

_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY = Struct(">qi")
_ABORTED_TRANSACTION = Struct(">hqqqq")
_PRODUCER_HEADER = Struct(">hIi")
_PRODUCER_ENTRY = Struct(">qhiqiqiq")
_CHECKED_FROM = 6  # the bytes that the CRC of a producer snapshot covers
_CORRUPT = "org.apache.kafka.storage.internals.log.CorruptIndexException"


def _base_offset(file: str) -> int:
    return parse_integer(file.rpartition("/")[2].partition(".")[0], 64)


def _beside(file: str, suffix: str) -> str:
    directory, slash, name = absolute(file).rpartition("/")
    return f"{directory}{slash}{name.partition('.')[0]}{suffix}"


def _read(file: str) -> bytes:
    with open(file, "rb") as opened:  # noqa: PTH123 - pathlib costs 10 ms
        return opened.read()


def _read_index(file: str) -> bytes:
    try:
        return _read(file)
    except FileNotFoundError:
        # Stock creates an empty file here before it fails; reading a directory should not change it.
        raise Uncaught("java.lang.IllegalArgumentException", "Invalid max index size: -1") from None
    except OSError as error:
        raise Uncaught("java.io.FileNotFoundException", f"{file} ({error.strerror})") from None


def _offset_entries(data: bytes, base_offset: int) -> list[tuple[int, int]]:
    """(offset, position) of each whole entry."""
    whole = len(data) - len(data) % _OFFSET_ENTRY.size
    return [(base_offset + relative, position) for relative, position in _OFFSET_ENTRY.iter_unpack(data[:whole])]


def dump_index_file(file: str, suffix: str, options: Options, lines: Lines, findings: Findings) -> None:
    """Print one of the files beside a log; raises OSError, DamagedLog or Uncaught."""
    match suffix:
        case "index":
            dump_index(file, options, lines, findings)
        case "timeindex":
            dump_time_index(file, options, lines, findings)
        case "snapshot":
            dump_producer_snapshot(file, lines)
        case _:
            dump_transaction_index(file, lines)


def dump_index(file: str, options: Options, lines: Lines, findings: Findings) -> None:
    """Print an offset index, and compare it with its log; raises OSError, DamagedLog or Uncaught."""
    max_message_size = options.value("max-message-size")
    base_offset = _base_offset(file)
    with LogFile(_beside(file, ".log")) as log:
        data = _read_index(file)
        entries = _offset_entries(data, base_offset)
        if not entries:
            lines.note(f"{file} is empty.", entries=0)
            return
        if options.has("index-sanity-check"):
            _check_index(file, data, base_offset, entries[-1][0])
            lines.note(f"{file} passed sanity check.", sane=True)
            return
        for number, (offset, position) in enumerate(entries):
            # A sparse file may have many zero entries after a crash.
            if offset == base_offset and number > 0:
                return
            log_offset = _last_offset_at(log, position, max_message_size)
            if log_offset != offset:
                findings.add(INDEX_MISMATCH, absolute(file), offset, log_offset)
            if not options.has("verify-index-only"):
                lines.line("entry", (("offset", offset), ("position", position)))


def _check_index(file: str, data: bytes, base_offset: int, last_offset: int) -> None:
    if last_offset < base_offset:
        raise Uncaught(
            _CORRUPT,
            f"Corrupt index found, index file {absolute(file)} has non-zero size but the last offset is {last_offset} "
            f"which is less than the base offset {base_offset}",
        )
    if len(data) % _OFFSET_ENTRY.size:
        raise Uncaught(
            _CORRUPT,
            f"Index file {absolute(file)} is corrupt, found {len(data)} bytes which is neither positive nor a multiple "
            f"of {_OFFSET_ENTRY.size}",
        )


def _check_position(log: LogFile, position: int) -> None:
    if position < 0:
        raise Uncaught(
            "java.lang.IllegalArgumentException",
            f"Invalid position: {position} in read from {log.describe(0, LARGEST_FILE)}",
        )
    if position > log.size:
        raise Uncaught(
            "java.lang.IllegalArgumentException",
            f"Slice from position {position} exceeds end position of {log.describe(0, LARGEST_FILE)}",
        )


def _last_offset_at(log: LogFile, position: int, max_message_size: int) -> int:
    _check_position(log, position)
    if max_message_size < 0:
        raise Uncaught(
            "java.lang.IllegalArgumentException",
            f"Invalid size: {max_message_size} in read from {log.describe(0, LARGEST_FILE)}",
        )
    for batch in log.batches(position, position + max_message_size):
        return batch.last_offset
    raise Uncaught("java.util.NoSuchElementException")


def dump_time_index(file: str, options: Options, lines: Lines, findings: Findings) -> None:
    """Print a time index, and compare it with its log; raises OSError, DamagedLog or Uncaught."""
    base_offset = _base_offset(file)
    with LogFile(_beside(file, ".log")) as log:
        index = _offset_entries(_read_index(_beside(file, ".index")), base_offset)
        data = _read_index(file)
        whole = len(data) - len(data) % _TIME_ENTRY.size
        entries = [(time, base_offset + relative) for time, relative in _TIME_ENTRY.iter_unpack(data[:whole])]
        if options.has("index-sanity-check"):
            _check_time_index(file, data, base_offset, entries)
            lines.note(f"{file} passed sanity check.", sane=True)
            return
        last_timestamp = -1
        for number, (timestamp, offset) in enumerate(entries):
            if offset == base_offset and number > 0:
                return
            _compare(file, log, index, (timestamp, offset), last_timestamp, findings)
            if not options.has("verify-index-only"):
                lines.line("entry", (("timestamp", timestamp), ("offset", offset)))
            last_timestamp = timestamp


def _compare(
    file: str,
    log: LogFile,
    index: list[tuple[int, int]],
    entry: tuple[int, int],
    last_timestamp: int,
    findings: Findings,
) -> None:
    """Check an entry of a time index against the batch that it points to."""
    timestamp, offset = entry
    name = absolute(file)
    slot = bisect_right(index, offset, key=lambda one: one[0]) - 1
    position = index[slot][1] if slot >= 0 else 0
    _check_position(log, position)
    batch = next((batch for batch in log.batches(position) if batch.last_offset >= offset), None)
    if batch is None or batch.last_offset != offset:
        findings.add(NOT_FOUND, name, offset, -1 if batch is None else batch.last_offset)
        return
    timestamp_max = max((record.timestamp for record in records_of(batch)), default=-1)
    if max(timestamp_max, -1) != timestamp:
        findings.add(TIMESTAMP_MISMATCH, name, timestamp, max(timestamp_max, -1))
    if last_timestamp >= timestamp:
        findings.add(OUT_OF_ORDER, name, timestamp, last_timestamp)


def _check_time_index(file: str, data: bytes, base_offset: int, entries: list[tuple[int, int]]) -> None:
    start = f"Corrupt time index found, time index file ({absolute(file)}) has non-zero size but the last "
    if entries and entries[-1][0] < entries[0][0]:
        raise Uncaught(
            _CORRUPT,
            f"{start}timestamp is {entries[-1][0]} which is less than the first timestamp {entries[0][0]}",
        )
    if entries and entries[-1][1] < base_offset:
        raise Uncaught(_CORRUPT, f"{start}offset is {entries[-1][1]} which is less than the first offset {base_offset}")
    if len(data) % _TIME_ENTRY.size:
        raise Uncaught(
            _CORRUPT,
            f"Time index file {absolute(file)} is corrupt, found {len(data)} bytes which is neither positive nor a "
            f"multiple of {_TIME_ENTRY.size}",
        )


def dump_transaction_index(file: str, lines: Lines) -> None:
    """Print the aborted transactions of a segment; raises OSError or Uncaught."""
    _base_offset(file)
    try:
        data = _read(file)
    except FileNotFoundError:
        return
    whole = len(data) - len(data) % _ABORTED_TRANSACTION.size
    entries = list(_ABORTED_TRANSACTION.iter_unpack(data[:whole]))
    for version, *_ in entries:
        if version != 0:
            raise Uncaught(
                "org.apache.kafka.common.KafkaException",
                f"Unexpected aborted transaction version {version} in transaction index {absolute(file)}, supported "
                "version range is 0 to 0",
            )
    names = ("version", "producerId", "firstOffset", "lastOffset", "lastStableOffset")
    for entry in entries:
        lines.line("abortedTransaction", zip(names, entry, strict=True))


def dump_producer_snapshot(file: str, lines: Lines) -> None:
    """Print the producers of a `.snapshot` file; a damaged file is reported on stderr. Raises OSError."""
    data = _read(file)
    problem = _producer_snapshot_problem(data)
    if problem is not None:
        complain(f"{problem}\n")
        return
    count = _PRODUCER_HEADER.unpack_from(data)[2]
    for number in range(count):
        (
            producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch, first_offset,
        ) = _PRODUCER_ENTRY.unpack_from(data, _PRODUCER_HEADER.size + number * _PRODUCER_ENTRY.size)  # fmt: skip
        fields = [
            ("producerId", producer_id), ("producerEpoch", epoch), ("coordinatorEpoch", coordinator_epoch),
            ("currentTxnFirstOffset", first_offset if first_offset >= 0 else None), ("lastTimestamp", timestamp),
        ]  # fmt: skip
        if last_offset >= 0:
            first_sequence = last_sequence - offset_delta
            if first_sequence < 0:  # sequences wrap at 2^31 - 1
                first_sequence += 1 << 31
            fields += [
                ("firstSequence", first_sequence), ("lastSequence", last_sequence), ("lastOffset", last_offset),
                ("offsetDelta", offset_delta), ("timestamp", timestamp),
            ]  # fmt: skip
        lines.line("producer", fields)


def _producer_snapshot_problem(data: bytes) -> str | None:
    from records.crc import crc32c

    if len(data) < 2:
        return "Snapshot failed schema validation: null"
    version = int.from_bytes(data[:2], "big", signed=True)
    if version != 1:
        return f"Snapshot failed schema validation: Snapshot contained an unknown file version {version}"
    if len(data) < _PRODUCER_HEADER.size:
        return "Snapshot failed schema validation: null"
    _, stored, count = _PRODUCER_HEADER.unpack_from(data)
    if count < 0:
        return "Snapshot failed schema validation: non-nullable field producerEntries was serialized as null"
    left = len(data) - _PRODUCER_HEADER.size
    if count > left:
        return (
            "Snapshot failed schema validation: Tried to allocate a collection of size "
            f"{count}, but there are only {left} bytes remaining."
        )
    if count * _PRODUCER_ENTRY.size > left:
        return "Snapshot failed schema validation: null"
    computed = crc32c(memoryview(data)[_CHECKED_FROM:])
    if stored != computed:
        return f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {stored}. Computed crc: {computed}"
    return None
