"""Syncs of single nodes that take longer than the disk needs. The machine's disk is not changed.

`python -m simulations.chaos.syncs FILE PROPERTIES` is `kraftctl start -c PROPERTIES` with a pause after each sync, of
as many seconds as the file says.
"""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class Syncs:
    """How long each sync of each node takes in addition, in a file of its own below the directory; 0 s at first."""

    def __init__(self, directory: Path, nodes: Iterable[int]) -> None:
        self._files = {node: directory / f"node-{node}.delay" for node in nodes}
        self.delay(0, *self._files)

    def delay(self, seconds: float, *nodes: int) -> None:
        """Have each sync of these nodes take so much longer, from the next one on."""
        for node in nodes:
            # By a rename: a partly written file would be another number.
            new = self._files[node].with_suffix(".new")
            new.write_text(str(seconds))
            new.replace(self._files[node])

    def command(self, node: int, properties: Path) -> list[str]:
        """The command line of the node with this configuration."""
        return [sys.executable, "-m", __name__, str(self._files[node]), str(properties)]


def _with_delay(sync: Any, file: Path) -> Any:
    def run(handle: Any) -> None:
        sync(handle)
        # Under libfaketime `time.sleep` raises EINVAL.
        select.select([], [], [], float(file.read_text()))

    return run


def main(file: str, properties: str) -> int:
    os.fdatasync, os.fsync = _with_delay(os.fdatasync, Path(file)), _with_delay(os.fsync, Path(file))
    # `raft.storage.files` takes its functions when it is imported.
    from tools.kraftctl.main import main as kraftctl

    return kraftctl(["start", "-c", properties])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
