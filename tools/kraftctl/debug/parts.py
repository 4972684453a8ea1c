"""The parts of a bundle: collected at the same time, each by a thread that may fail or hang; redacted in one place."""

from __future__ import annotations

import json
import re
import threading
import time

from records.plain_text import plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from tools.kraftctl.debug.redaction import Redaction

    # The name of a file in the bundle, and its content: a text, or a tree of JSON.
    Content = tuple[str, Any]
    Collect = Callable[[], Iterator[Content]]

DONE, FAILED, UNFINISHED = "done", "failed", "unfinished"
FILE_BYTES_MAX = 8 << 20
ALL_BYTES_MAX = 64 << 20
_EVENT_KEY = re.compile(r"[a-z][a-z0-9_]{0,40}")
_LABEL = re.compile(r'="((?:[^"\\]|\\.)*)"')
_FRAME = re.compile(r'File "([^"<]*)"')
_OURS = re.compile(r".*/(?=(?:site-packages|python3\.\d+|controller|raft|records|tools|kraft_quorum)/)")


class Part:
    """One part while it is collected. state: of DONE, FAILED, UNFINISHED; reason: why it is not whole."""

    def __init__(self, name: str, collect: Collect) -> None:
        self.name = name
        self.contents: list[Content] = []
        self.state = UNFINISHED
        self.reason = ""
        self.seconds = 0.0
        self._collect = collect
        # The process does not wait for it at its end.
        self.thread = threading.Thread(target=self._run, name=f"part {name}", daemon=True)

    def _run(self) -> None:
        began_s = time.monotonic()
        try:
            for content in self._collect():
                self.contents.append(content)
            self.state = DONE
        except Exception as error:  # whatever is broken on this machine, the other parts are collected
            kind = type(error).__name__
            self.reason = str(error) if kind == "NotThere" else f"{kind}: {error}"
            self.state = FAILED
        self.seconds = round(time.monotonic() - began_s, 2)


def collect_parts(wanted: Mapping[str, Collect], seconds: float) -> list[Part]:
    """Collect all parts at the same time, for so long at most. What an unfinished one has by then is kept."""
    parts = [Part(name, collect) for name, collect in wanted.items()]
    end_s = time.monotonic() + seconds
    for part in parts:
        part.thread.start()
    for part in parts:
        part.thread.join(max(0.0, end_s - time.monotonic()))
        if part.thread.is_alive():
            part.reason = f"it did not end within {seconds:g} s"
            part.seconds = seconds
    return parts


class Rendered:
    """The files of a bundle, redacted and limited in size. sections: the state of each part, for the manifest."""

    def __init__(self, parts: list[Part], redaction: Redaction) -> None:
        self.files: dict[str, bytes] = {}
        self.sections: dict[str, dict[str, Any]] = {}
        self._redaction = redaction
        left = ALL_BYTES_MAX
        for part in parts:
            # A thread that still runs may add to the list, and change the state.
            state, reason, contents = part.state, part.reason, list(part.contents)
            cut = []
            for name, content in contents:
                data = render(name, content, redaction).encode("utf-8", "replace")
                room = min(FILE_BYTES_MAX, left)
                if len(data) > room:
                    cut.append(name)
                    data = data[:room]
                left -= len(data)
                self.files[name] = data
            self.sections[part.name] = {
                "state": state, "reason": plain_text(redaction.text(reason)), "seconds": part.seconds,
                "files": [name for name, _ in contents], "cut": cut,
            }  # fmt: skip


def render(name: str, content: Any, redaction: Redaction) -> str:
    """The text of a file, redacted."""
    if name.endswith(".jsonl"):
        return "".join(f"{json.dumps(redaction.value(line), separators=(',', ':'))}\n" for line in content)
    if not isinstance(content, str):
        return json.dumps(redaction.value(content), indent=1, ensure_ascii=False, default=str) + "\n"
    if not redaction.removes_names:
        return redaction.text(content)
    if name.startswith("metrics/"):
        return "".join(_metric(line, redaction) for line in content.splitlines(keepends=True))
    if name.startswith("logs/"):
        return "".join(f"{_log_line(line, redaction)}\n" for line in content.splitlines())
    if name.endswith("stacks.txt"):
        return _FRAME.sub(lambda frame: f'File "{_path(frame[1], redaction)}"', redaction.without_secrets(content))
    if name.startswith("process/"):
        return redaction.without_secrets(content)  # the kernel's texts and numbers
    return redaction.text(content)


def _metric(line: str, redaction: Redaction) -> str:
    if line.startswith("#"):
        return line
    return _LABEL.sub(lambda label: f'="{redaction.text(label[1])}"', redaction.without_secrets(line))


def _log_line(line: str, redaction: Redaction) -> str:
    """A line of a log of ours keeps its keys; of any other each word may be a name."""
    if line.startswith("{"):
        try:
            tree = json.loads(line)
        except (ValueError, RecursionError):
            tree = None
        if isinstance(tree, dict) and all(_EVENT_KEY.fullmatch(key) for key in tree):
            return json.dumps(redaction.value(tree), separators=(",", ":"))
    return redaction.text(line)


def _path(path: str, redaction: Redaction) -> str:
    """The path of a module of ours or of Python without the directories that it is installed in."""
    return _OURS.sub("…/", path) if _OURS.match(path) else redaction.pseudonym(path)
