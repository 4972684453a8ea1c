"""A small disk for each node, which can be filled: a tmpfs, which only root may mount."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MNT_DETACH = 2


class Disks:
    """The disks of `node-N` below the directory, mounted now. Raises OSError if this process may not mount."""

    def __init__(self, directory: Path, nodes: Iterable[int], size_bytes: int) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._places: dict[int, Path] = {}
        for node in nodes:
            place = directory / f"node-{node}"
            place.mkdir()
            if self._libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, f"size={size_bytes}".encode()) != 0:
                code = ctypes.get_errno()
                place.rmdir()
                self.close()
                raise OSError(code, f"mount of a tmpfs: {os.strerror(code)}", str(place))
            self._places[node] = place

    def fill(self, node: int) -> None:
        """Leave no room on this disk."""
        with self._filler(node).open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                return

    def free(self, node: int) -> None:
        """Undo `fill`."""
        self._filler(node).unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount all: what is on them is gone."""
        for place in self._places.values():
            self._libc.umount2(os.fsencode(place), MNT_DETACH)

    def _filler(self, node: int) -> Path:
        return self._places[node] / "filler"
