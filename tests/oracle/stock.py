"""Stock behind the commands: the Java program of `stock/`, built once, with pipes for frames."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING

from records.frame import encode_record
from tests.interop.stock import LOG4J2, cache
from tests.oracle.commands import Answer, Hold, Lead, Lose, Pass, Request, Restart, Snapshot, Start
from tests.oracle.ours import CLUSTER, bootstrap_of, properties_of
from tests.oracle.release import RELEASE
from tools.kraftctl.run.stock_brokers import alone_in

if TYPE_CHECKING:
    from tests.oracle.commands import Command

HERE = Path(__file__).parent / "stock"
FRAME_BYTES_MAX = 64 << 20
# No command takes so long.
SILENCE_S = 90
# Files in memory, where the system has such a place.
SPEEDY = "/dev/shm"
FLAGS = ("-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


def built() -> str:
    """The class path of the program: Kafka's jars and our classes, made once for each state of the sources.

    src/ is for all releases; src-4.4/ has the classes that touch what is another class in each.
    """
    RELEASE.stock.bring()
    folders = (HERE / "src", HERE / f"src-{RELEASE.ours.name}")
    sources = sorted(path for folder in folders for path in folder.rglob("*.java"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    jars = RELEASE.stock.jars
    directory = cache() / f"oracle-{RELEASE.version}"
    output = directory / digest
    directory.mkdir(parents=True, exist_ok=True)
    with alone_in(directory):
        if not (output / ".whole").exists():
            subprocess.run(
                ["javac", "-nowarn", "-proc:none", "--release", "17", "-cp", f"{jars}/*",
                 "-d", str(output / "classes"), *map(str, sources)],
                check=True, capture_output=True,
            )  # fmt: skip
            (output / "log4j2.properties").write_text(LOG4J2.format(level="OFF", target="SYSTEM_ERR"))
            (output / ".whole").touch()
    return f"{output / 'classes'}:{jars}/*"


def java(main: str) -> list[str]:
    """The command line of one of the program's classes."""
    class_path = built()
    config = Path(class_path.partition(":")[0]).parent / "log4j2.properties"
    flags = [*FLAGS, f"-Djava.io.tmpdir={SPEEDY}"] if Path(SPEEDY).is_dir() else [*FLAGS]
    return ["java", *flags, f"-Dlog4j2.configurationFile={config}", "-cp", class_path, main]


class StockProcess:
    """The Java program; commands may be sent ahead of reading their answers.

    A thread takes the answers from the pipe, so that neither side ever waits for the other to read.
    """

    main = "kraft.oracle.Oracle"

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            java(self.main), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 16,
            env={key: value for key, value in os.environ.items() if key != "JAVA_TOOL_OPTIONS"},
        )  # fmt: skip
        self.frames: Queue[bytes | None] = Queue()
        self.taker = Thread(target=self._take_frames, daemon=True)
        self.taker.start()

    def send(self, frame: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(struct.pack(">i", len(frame)) + frame)

    def flush(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.flush()

    def receive(self) -> Answer:
        """The next answer. Raises EOFError where the program ended or is silent, ValueError where it is malformed."""
        return Reader(self.receive_frame()).answer()

    def receive_frame(self) -> bytes:
        """The next frame. Raises EOFError where the program ended or is silent."""
        try:
            frame = self.frames.get(timeout=SILENCE_S)
        except Empty:
            raise EOFError(f"the program of stock has said nothing for {SILENCE_S} s") from None
        if frame is None:
            raise EOFError("the program of stock has ended")
        return frame

    def run(self, frame: bytes) -> Answer:
        self.send(frame)
        self.flush()
        return self.receive()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.taker.join()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def _take_frames(self) -> None:
        """Put frames into the queue until the pipe ends, and then None; an invalid length ends it too."""
        pipe = self.process.stdout
        assert pipe is not None
        with pipe:
            while len(head := pipe.read(4)) == 4:
                (length,) = struct.unpack(">i", head)
                if not 0 < length <= FRAME_BYTES_MAX:
                    break
                frame = pipe.read(length)
                if len(frame) < length:
                    break
                self.frames.put(frame)
        self.frames.put(None)


def frame_of(command: Command, number: int = 0, body: bytes = b"") -> bytes:
    """The bytes of a command; number, body: of a request."""
    match command:
        case Start():
            text = "".join(f"{key}={value}\n" for key, value in properties_of(command).items())
            records = [encode_record(record, version) for record, version in bootstrap_of(command)]
            head = b"\0" + _field(text.encode()) + _field(CLUSTER.encode())
            head += struct.pack(">qi", command.seed, len(records))
            return head + b"".join(_field(record) for record in records)
        case Request():
            kind, name = command.principal
            head = struct.pack(">bihh", 1, number, command.api_key, command.version)
            flags = bytes((command.by_token | command.forwarded << 1,))
            sender = _field(kind.encode()) + _field(name.encode()) + _field(command.protocol.encode())
            client = b"\0" if command.client_id is None else b"\1" + _field(command.client_id.encode())
            sender += client + flags
            return head + sender + _field(body)
        case Pass():
            return struct.pack(">bqi", 2, command.ms, command.steps)
        case Lose():
            return b"\3"
        case Lead():
            return b"\4"
        case Restart():
            return bytes((5, command.from_snapshot))
        case Snapshot():
            return b"\6"
        case Hold():
            return bytes((7, command.wanted))


def _field(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


@dataclass
class Reader:
    """Reads an answer; each length is checked against what is left."""

    data: bytes
    position: int = 0

    def answer(self) -> Answer:
        responses: list[tuple[int, bytes | None]] = []
        for _ in range(self.count()):
            number = self.count()
            answered = self.take(1) != b"\0"
            body = self.value()
            responses.append((number, body if answered else None))
        found = [self.records() for _ in range(self.count())]
        notes = [self.value().decode("utf-8", "replace") for _ in range(self.count())]
        answer = Answer(responses, found, notes, self.records())
        if self.position != len(self.data):
            raise ValueError(f"{len(self.data) - self.position} bytes are left after the answer")
        return answer

    def records(self) -> list[bytes]:
        return [self.value() for _ in range(self.count())]

    def count(self) -> int:
        (value,) = struct.unpack(">i", self.take(4))
        if value < 0:
            raise ValueError(f"a count of {value}")
        return int(value)

    def value(self) -> bytes:
        return self.take(self.count())

    def take(self, count: int) -> bytes:
        end = self.position + count
        if end > len(self.data):
            raise ValueError(f"{count} bytes are wanted and {len(self.data) - self.position} are left")
        taken, self.position = self.data[self.position : end], end
        return taken
