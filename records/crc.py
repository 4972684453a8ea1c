"""CRC-32C, by the `crc32c` package's extension.

Importing the package costs 45 ms: it reads its own version from installed metadata, and sets up a command line. Tools
need neither, so only its extension is loaded, and the package if that fails.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder

from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Checksum = Callable[..., int]


def _extension() -> Any:
    package: ModuleSpec | None = PathFinder.find_spec("crc32c")
    if package is None or not package.submodule_search_locations:
        return None
    spec = PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
        return None
    module = spec.loader.create_module(spec)
    spec.loader.exec_module(module)
    return module


def _load() -> Checksum:
    module = None if "crc32c" in sys.modules else _extension()
    if module is None or not hasattr(module, "crc32c"):
        module = import_module("crc32c")
    return module.crc32c  # type: ignore[no-any-return]


# crc32c(data, value=0): the checksum of the bytes, carried on from `value`.
crc32c: Checksum = _load()
