"""The loggers of this node and their levels, which IncrementalAlterConfigs of BROKER_LOGGER changes (KIP-412)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = "root"
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


class Loggers:
    """Names and levels. The log makes this object from its loggers, and changes it on `SetLogLevel`.

    own: name -> its own level, None if it inherits that of its parent: the logger with the longest prefix of the name
    that ends before a dot, else the root, which always has a level.
    """

    __slots__ = ("own",)

    def __init__(self, own: Mapping[str, str | None]) -> None:
        self.own = dict(own)
        assert self.own.get(ROOT) in LEVELS, self.own.get(ROOT)

    def __contains__(self, name: object) -> bool:
        return name in self.own

    def level(self, name: str) -> str:
        """The effective level of a logger, one of these or one below it."""
        while name:
            own = self.own.get(name)
            if own is not None:
                return own
            name = name.rpartition(".")[0]
        root = self.own[ROOT]
        assert root is not None
        return root

    def levels(self) -> dict[str, str]:
        """Name -> effective level, sorted by name."""
        return {name: self.level(name) for name in sorted(self.own)}

    def put(self, name: str, level: str | None) -> None:
        """Set the level of a logger; None: it inherits that of its parent."""
        assert level in (*LEVELS, None), level
        assert name in self.own, name
        assert name != ROOT or level is not None, "the root has a level"
        self.own[name] = level
