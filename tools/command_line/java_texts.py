"""Java's texts of values that the tools print: paths, numbers, optionals, uncaught exceptions."""

from __future__ import annotations

from records.java.java_forms import integer
from tools.offline.log_file import CorruptRecord, DamagedLog, InvalidRecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_IO_EXCEPTIONS = {
    FileNotFoundError: "java.nio.file.NoSuchFileException",
    PermissionError: "java.nio.file.AccessDeniedException",
}


class Uncaught(Exception):
    """An uncaught exception that ends stock's tool. java_class: its full name; cause: the exception's cause.

    suppressed: exceptions that Java lists under it.
    """

    suppressed: Sequence[Uncaught] = ()

    def __init__(self, java_class: str, message: str | None = None, cause: object = None) -> None:
        super().__init__(message)
        self.java_class = java_class
        self.message = message
        self.cause = cause

    def __str__(self) -> str:
        return self.java_class if self.message is None else f"{self.java_class}: {self.message}"

    def text(self) -> str:
        """The lines on stderr, without Java's stack frames."""
        caused = "" if self.cause is None else f"Caused by: {self.cause}\n"
        return f'Exception in thread "main" {self}\n{caused}'


def uncaught(error: OSError | DamagedLog) -> Uncaught:
    """The exception that Java throws if a file cannot be opened, or does not hold a log."""
    if isinstance(error, OSError):
        for kind, name in _IO_EXCEPTIONS.items():
            if isinstance(error, kind):
                return Uncaught(name, error.filename)
        return Uncaught("java.io.IOException", error.strerror)
    if isinstance(error, CorruptRecord):
        return Uncaught("org.apache.kafka.common.errors.CorruptRecordException", str(error))
    if isinstance(error, InvalidRecord):
        return Uncaught("org.apache.kafka.common.InvalidRecordException", str(error))
    return Uncaught("org.apache.kafka.common.KafkaException", str(error))


def absolute(text: str) -> str:
    """`File.getAbsolutePath`: relative to the working directory, with `.` and `..` unchanged."""
    import os

    here = os.getcwd()  # noqa: PTH109 - pathlib costs 10 ms
    return text if text.startswith("/") else (f"{here}/{text}" if text else here)


def optional_long(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def boolean(value: object) -> str:
    return "true" if value else "false"


def parse_integer(text: str, bits: int = 32) -> int:
    """Like `integer`, but it raises Uncaught for Java's exception."""
    try:
        return integer(text, bits)
    except ValueError as error:
        raise Uncaught("java.lang.NumberFormatException", str(error)) from None
