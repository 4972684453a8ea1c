"""Mutated bytes against everything that reads bytes: they decode, or end in the one error, and take no memory.

python -m tests.records.fuzz --count 1000000 --seed 1
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from random import Random

from records.batch import CorruptBatch, batches, records_of
from records.bulk.rows import Columns, Single, scan
from records.codec import decode, encode
from records.compression import decompress
from records.control_batch import control_records_of, decode_control
from records.frame import decode_record, encode_record
from records.printing.json_form import from_json
from records.printing.json_text import read_json
from records.registry import find_class
from records.schema import schema_of
from records.wire import DecodeError, EncodeError
from tests.records import field_tables
from tests.records.bulk.test_rows import as_records
from tests.records.golden import files, wire_rows
from tests.records.test_field_tables import table_of
from tests.records.without_stock_bytes import WITHOUT_STOCK_BYTES

Reader = Callable[[bytes], object]
Subject = tuple[str, bytes, Reader]  # what it is, bytes that are well formed, and what reads them

STATM = Path("/proc/self/statm")
DECOMPRESSED_MAX = 1 << 20
NASTY = (
    b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff\xff\xff\xff", b"\xff\xff\xff\xfe", b"\x00\x00\x00\x00",
    b"\x7f\xff",
    b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\xff\x01", b"\x80\x80\x80\x80\x80\x80\x00",
    b"\x80\x00", b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xc3\x28", b"\xed\xa0\x80",
)  # fmt: skip


def message_reader(cls: type, version: int) -> Reader:
    """Decode; an accepted message must encode, to bytes that decode to the same message."""

    def read(data: bytes) -> None:
        message: object
        try:
            message = decode(cls, version, data)
        except DecodeError as error:
            if (error.message, error.version) != (cls.__name__, version) or not 0 <= error.offset <= len(data):
                raise AssertionError(f"wrong error: {error}") from error
            raise
        again = encode(message, version)
        assert len(again) <= len(data), "accepted bytes have a longer form"
        assert encode(decode(cls, version, again), version) == again

    return read


def frame_reader(data: bytes) -> None:
    encode_record(*decode_record(data))


def batch_reader(data: bytes) -> None:
    """The scan in columns accepts the same batches as reading one by one."""
    for batch in batches(data, check=False):
        one_by_one: list[tuple[int, object]] | None = None
        try:
            records = records_of(data, batch, decompressed_max=DECOMPRESSED_MAX)
            one_by_one = [(record.offset, decoded_or_value(record.value)) for record in records]
        except CorruptBatch:
            pass
        try:
            scanned = [pair for found in scan(data, batch, rows_min=4) for pair in pairs_of(found)]
        except CorruptBatch as error:
            if one_by_one is not None and "has no value" not in error.reason:
                raise AssertionError("the scan refuses what is well formed") from error
            continue
        assert sorted(scanned, key=itemgetter(0)) == one_by_one
        if batch.is_control:
            control_records_of(data, batch)


def pairs_of(found: Columns | Single) -> list[tuple[int, object]]:
    if isinstance(found, Single):
        return [(found.offset, decoded_or_value(found.value))]
    return list(as_records(found))


def decoded_or_value(value: bytes | None) -> object:
    """The record and its version; the bytes where they are none."""
    try:
        return decode_record(value or b"")
    except DecodeError:
        return value


def control_reader(data: bytes) -> None:
    decode_control(data[:4], data[4:])


def json_reader(cls: type, version: int) -> Reader:
    def read(data: bytes) -> None:
        message: object = from_json(cls, version, read_json(data.decode("utf-8", "surrogatepass")))
        encode(message, version)

    return read


def compressed_reader(kind: int) -> Reader:
    def read(data: bytes) -> None:
        assert len(decompress(kind, data, DECOMPRESSED_MAX)) <= DECOMPRESSED_MAX

    return read


def corpus() -> list[Subject]:
    """Well-formed bytes of every kind: stock's if there are any, otherwise the interpreter's."""
    found: list[Subject] = []
    for table in ("wire.tsv", "wire-unknown-tags.tsv"):
        for name, version, text, data in wire_rows(table):
            cls = find_class(name)
            found.append(("message", data, message_reader(cls, version)))
            if schema_of(cls).kind == "metadata":
                found.append(("frame", encode_record(decode(cls, version, data), version), frame_reader))
            if len(found) % 8 == 0:
                found.append(("json", text.encode(), json_reader(cls, version)))
    rng = Random(1)
    for name, versions in WITHOUT_STOCK_BYTES.items():
        for version in versions:
            fields_table = table_of(name, version)
            assert fields_table
            data = field_tables.encode(fields_table, version, field_tables.generate(fields_table, version, rng))
            found.append(("message", data, message_reader(find_class(name), version)))
    for path in [*files("*.log"), *files("*.checkpoint")]:
        data = path.read_bytes()
        for batch in list(batches(data))[:20]:
            piece = data[batch.position : batch.position + min(batch.size, 4000)]
            found.append(("batch", piece, batch_reader))
            if batch.is_control:
                found += [
                    ("control", (record.key or b"") + (record.value or b""), control_reader)
                    for record in records_of(data, batch)
                ]
    return found + compressed()


def compressed() -> list[Subject]:
    import gzip

    import cramjam

    text = b"metadata " * 500
    return [
        ("compressed", gzip.compress(text, mtime=0), compressed_reader(1)),
        ("compressed", bytes(cramjam.snappy.compress_raw(text)), compressed_reader(2)),
        ("compressed", bytes(cramjam.lz4.compress(text)), compressed_reader(3)),
        ("compressed", bytes(cramjam.zstd.compress(text)), compressed_reader(4)),
    ] * 8


def mutated(data: bytes, rng: Random, others: list[Subject]) -> bytes:
    """The bytes with one to four changes: bits, nasty lengths, cuts, repeats, pieces of other messages."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(len(out) + 1)
        what = rng.randrange(7)
        if what == 0 and out:
            out[place % len(out)] ^= 1 << rng.randrange(8)
        elif what == 1:
            nasty = rng.choice(NASTY)
            out[place : place + len(nasty)] = nasty
        elif what == 2:
            out[place:place] = rng.choice(NASTY)
        elif what == 3:
            del out[place:]
        elif what == 4:
            del out[place : place + rng.randint(1, 8)]
        elif what == 5:
            out[place:place] = out[place : place + rng.randint(1, 40)]
        else:
            other = rng.choice(others)[1]
            start = rng.randrange(len(other) + 1)
            out[place : place + rng.randint(0, 20)] = other[start : start + rng.randint(1, 60)]
    return bytes(out[:20_000])


def resident_kib() -> int:
    """The memory that the process has now; where the system does not say, the most that it had."""
    try:
        pages = int(STATM.read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    return pages * resource.getpagesize() // 1024


def fuzz(count: int, seed: int) -> tuple[Counter[str], int]:
    """Read `count` mutated inputs; returns the outcomes, and by how many KiB the process grew.

    Raises any exception of a reader other than its documented error.
    """
    subjects = corpus()
    rng = Random(seed)
    outcome: Counter[str] = Counter()
    for _, data, read in subjects:  # makes every decoder, the careful ones too
        for whole in (data, data[:-1]):
            _read(read, whole, Counter(), "")
    gc.collect()
    before = peak = resident_kib()
    for number in range(count):
        kind, data, read = rng.choice(subjects)
        _read(read, mutated(data, rng, subjects), outcome, kind)
        if number % 1000 == 0:
            peak = max(peak, resident_kib())
    return outcome, max(peak, resident_kib()) - before


def _read(read: Reader, data: bytes, outcome: Counter[str], kind: str) -> None:
    try:
        read(data)
    except (DecodeError, CorruptBatch):
        outcome[f"{kind} refused"] += 1
    except (EncodeError, ValueError) as error:
        if kind in {"json", "compressed"}:
            outcome[f"{kind} refused"] += 1
        elif kind:
            raise AssertionError(f"{kind}: {data.hex()}") from error
    except Exception as error:  # any other error is what the fuzzer looks for
        raise AssertionError(f"{kind}: {data.hex()}") from error
    else:
        outcome[f"{kind} accepted"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.records.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    outcome, growth = fuzz(options.count, options.seed)
    for what, times in sorted(outcome.items()):
        print(f"{what:20} {times}")
    print(f"grew by              {growth} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
