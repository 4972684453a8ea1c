"""Numbered records through a topic: a stock producer that goes on while things fail, a stock consumer that counts."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.interop.cluster import Cluster


class Producer:
    """A stock console producer, fed with 0, 1, 2 … at a steady pace from a thread of its own. properties: of the
    producer, such as `linger.ms=5`.
    """

    def __init__(self, cluster: Cluster, topic: str, records: int, seconds: float, *properties: str) -> None:
        self.records = records
        self.sent = 0
        self._pause = seconds / records * 50
        self._ending = threading.Event()
        command = cluster.stock.tool_command(
            "console-producer", "--bootstrap-server", cluster.bootstrap, "--topic", topic,
            "--producer-property", "enable.idempotence=true", "--producer-property", "acks=all",
            "--max-block-ms", "120000", "--request-timeout-ms", "30000",
            # The tool gives up after three retries, in 0.3 s; a producer goes on until its delivery timeout.
            "--message-send-max-retries", str(2**31 - 1),
            *(option for each in properties for option in ("--producer-property", each)),
        )  # fmt: skip
        self._log = (cluster.root / f"producer-{topic}.log").open("wb")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self._log, stderr=self._log)
        self._thread = threading.Thread(target=self._feed)
        self._thread.start()

    def _feed(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: `finish` returns its exit code
            for first in range(0, self.records, 50):
                lines = "".join(f"{number}\n" for number in range(first, min(first + 50, self.records)))
                self.process.stdin.write(lines.encode())
                self.process.stdin.flush()
                self.sent = min(first + 50, self.records)
                if self._ending.wait(self._pause):
                    break
            self.process.stdin.close()

    def end(self) -> int:
        """Send no more than was sent by now, and wait until that is acknowledged; the exit code."""
        self._ending.set()
        return self.finish()

    def kill(self) -> None:
        """End it at once, if it runs."""
        self._ending.set()
        self.process.kill()
        self.finish()

    def finish(self, seconds: float = 120) -> int:
        """Wait until all is acknowledged; the exit code."""
        self._thread.join(seconds)
        code = self.process.wait(seconds)
        self._log.close()
        return code


def consume(cluster: Cluster, topic: str, records: int, seconds: float = 60) -> list[int]:
    """All numbers in the topic, in the order they were read: until `records` came and for some seconds after."""
    text = cluster.stock.tool(
        "console-consumer", "--bootstrap-server", cluster.bootstrap, "--topic", topic, "--from-beginning",
        "--timeout-ms", "8000", "--max-messages", str(records + 1000), seconds=seconds,
    )  # fmt: skip
    return [int(line) for line in text.stdout.split()]
