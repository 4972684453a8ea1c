"""Programs in Java that answer questions, a line of JSON each: compiled once, and started as one process for many."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from threading import Timer
from typing import Any, Self

from tools.kraftctl.run.stock_brokers import alone_in


def compiled(source: Path, jars: str, directory: Path) -> Path:
    """The directory of a program's classes, in `directory`, where they are kept for each state of the source."""
    text = source.read_bytes() + jars.encode()
    classes = directory / f"{source.stem}-{hashlib.sha256(text).hexdigest()[:16]}"
    directory.mkdir(parents=True, exist_ok=True)
    with alone_in(directory):
        if not classes.exists():
            with tempfile.TemporaryDirectory(dir=directory) as name:
                made = Path(name) / "classes"
                flags = ["-nowarn", "-proc:none", "-Xlint:-removal", "-encoding", "UTF-8", "-cp", jars]
                subprocess.run(["javac", *flags, "-d", str(made), str(source)], check=True, capture_output=True)
                shutil.move(made, classes)
    return classes


class Jvm:
    """A running program; a context manager. environment None: that of this process."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.command = command
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            encoding="utf-8", env=environment,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=30)  # it exits at the end of its input

    def ask(self, question: dict[str, Any], seconds: float = 300) -> dict[str, Any]:
        """The answer. Raises TimeoutExpired after `seconds`: the program has been killed then."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        limit = Timer(seconds, self.process.kill)
        limit.start()
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        finally:
            limit.cancel()
        if not line:
            raise subprocess.TimeoutExpired(self.command, seconds)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        self.process.kill()
        with contextlib.suppress(OSError):
            self.process.communicate()


def surroundings() -> dict[str, str]:
    """What a process inherits: its environment, and the working directory."""
    mine = {"PYTEST_CURRENT_TEST", "PWD", "OLDPWD"}
    return {"": str(Path.cwd()), **{key: value for key, value in os.environ.items() if key not in mine}}
