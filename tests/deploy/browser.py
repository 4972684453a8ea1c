"""A real headless browser, driven by the Chrome DevTools Protocol over two pipes, without a driver or a package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip
ANSWER_S = 30.0
NAVIGATED = ("Inspected target navigated or closed", "Execution context was destroyed.")
"""What the browser answers to a script whose page is replaced."""


def found_browser() -> str | None:
    """The path of an installed browser; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name)) is not None), None)


class Navigated(Exception):
    """The page that was asked gave way to another before it answered."""


class Browser:
    """One browser with one page. It reads commands from descriptor 3 and writes answers to 4, each ended by a zero."""

    def __init__(self, path: str, profile: Path) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        self._rest = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        pipes = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", pipes, "-", path, *OPTIONS, f"--user-data-dir={profile}"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """The result of a command to the page."""
        return self.call(method, self._session, **parameters)

    def open(self, url: str, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=url)

    def value(self, script: str) -> Any:
        """The result of a script, as a plain value."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def text(self, selector: str) -> str:
        """The text of an element."""
        return str(self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def await_text(self, selector: str, part: str, seconds: float = 30.0) -> None:
        """Returns once an element has a text, in this page or in one that is being loaded."""
        end = time.monotonic() + seconds
        text = ""
        while part not in text:
            assert time.monotonic() < end, f"{selector} has no {part!r} in: {text}"
            time.sleep(0.05)
            with suppress(Navigated):
                text = self.text(selector)

    def troubles(self) -> list[str]:
        """Errors and warnings in the console, violations of the content policy included, and uncaught exceptions."""
        self.value("0")
        entries = [event["params"]["entry"] for event in self.events if event["method"] == "Log.entryAdded"]
        thrown = [event["params"] for event in self.events if event["method"] == "Runtime.exceptionThrown"]
        return [entry["text"] for entry in entries if entry["level"] in {"error", "warning"}] + [
            str(one) for one in thrown
        ]

    def screenshot(self) -> bytes:
        """The visible part of the page, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def call(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            command["sessionId"] = session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        while True:
            found = self._next()
            if "id" not in found:
                self.events.append(found)
            elif found["id"] == self._number:
                error = found.get("error", {})
                if error.get("message") in NAVIGATED:
                    raise Navigated(method)
                assert not error, (method, error)
                return found["result"]

    def close(self) -> None:
        os.close(self._out)
        os.close(self._in)
        self.process.terminate()
        self.process.wait(20)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], ANSWER_S)[0], "the browser does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "the browser is gone"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def browser(path: str, profile: Path) -> Iterator[Browser]:
    opened = Browser(path, profile)
    try:
        yield opened
    finally:
        opened.close()
