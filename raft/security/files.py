"""Files of the configuration: read with a limit, and compared by their state on disk."""

from __future__ import annotations

FILE_BYTES_MAX = 4 << 20


class FileError(ValueError):
    """A file cannot be used; the text names it, and holds nothing secret."""


def read_bounded(path: str, bytes_max: int = FILE_BYTES_MAX) -> bytes:
    """The content of a file. Raises FileError."""
    from pathlib import Path  # 0.6 MiB with what it imports, which a node without such files does not need

    try:
        with Path(path).open("rb") as file:
            data = file.read(bytes_max + 1)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > bytes_max:
        raise FileError(f"{path} has more than {bytes_max} bytes")
    return data


def stamp_of(path: str) -> tuple[int, int, int]:
    """What differs once a file has changed: its time in ns, inode and size. Raises FileError."""
    from pathlib import Path

    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return status.st_mtime_ns, status.st_ino, status.st_size
