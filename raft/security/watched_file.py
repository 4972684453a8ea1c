"""A file of the configuration that is read anew when it changes, without a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from raft.security.files import FileError, read_bounded
from raft.security.renewal import CHECK_S, Renewal

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class WatchedFile(Renewal[T]):
    """What `parse` makes of a file.

    Once it was read, a change that cannot be used is logged once, and the previous content stays in use.
    """

    def __init__(
        self,
        path: str,
        parse: Callable[[bytes], T],
        now: Callable[[], float],
        note: Callable[[str, dict[str, Any]], None],
    ) -> None:
        """parse: raises ValueError, with a text that holds nothing secret; now: a clock, in s; note: takes events for
        the log. Raises FileError.
        """

        def make() -> T:
            try:
                return parse(read_bounded(path))
            except FileError:
                raise
            except ValueError as error:
                raise FileError(f"{path}: {error}") from None

        super().__init__(
            (path,), make, now=now, pause_s=CHECK_S,
            renewed=lambda: note("security_file_renewed", {"file": path}),
            refused=lambda reason: note("security_file_refused", {"file": path, "reason": reason}),
        )  # fmt: skip
