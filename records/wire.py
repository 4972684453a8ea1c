"""Kafka's wire types, and how their variable-length integers are written (KIP-482).

A wire type is an annotation in a message class: to the type checker `int32` is an `int`, at run time it is a
`Primitive` that names the type to the codec. Nothing here does IO, and importing it costs next to nothing.
"""

from __future__ import annotations

from struct import Struct as Layout

# To import `typing` costs a tool more than all of this; type checkers take the name for true.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

STRING_MAX = 32767  # bytes of UTF-8, in every version


class DecodeError(ValueError):
    """Bytes that are not the message they were taken for.

    message: name of the class; version: -1 where there is none; field: path such as `topics[2].name`, empty when the
    fault lies between fields; offset: of the field's first byte, from the start of the message's bytes, or where bytes
    are left over; -1 in JSON.
    """

    def __init__(self, message: str, version: int, field: str, offset: int, reason: str) -> None:
        self.message = message
        self.version = version
        self.field = field
        self.offset = offset
        self.reason = reason
        super().__init__(message, version, field, offset, reason)

    def __str__(self) -> str:
        at = f" {self.field}" if self.field else ""
        version = f" v{self.version}" if self.version >= 0 else ""
        offset = f" at byte {self.offset}" if self.offset >= 0 else ""
        return f"{self.message}{version}{at}{offset}: {self.reason}"


class EncodeError(ValueError):
    """A value that its message cannot carry in the version asked for."""


class Primitive:
    """A type that is no struct and no array. `code` is its letter for `struct`, empty when its size varies.

    range: the least and greatest integer of the type, inclusive; None for what is no integer.
    """

    __slots__ = ("code", "implicit", "name", "range", "size")

    def __init__(self, name: str, code: str, size: int, implicit: object) -> None:
        self.name = name
        self.code = code
        self.size = size
        self.implicit = implicit
        self.range: tuple[int, int] | None = None
        bits = 8 * size
        if code == "H":
            self.range = 0, (1 << bits) - 1
        elif code in ("b", "h", "i", "q"):
            self.range = -1 << bits - 1, (1 << bits - 1) - 1

    def __repr__(self) -> str:
        return self.name

    def admits(self, value: object) -> bool:
        """Whether a value can be written as this type."""
        if self.range is not None:
            if type(value) is not int:
                index = getattr(value, "__index__", None)
                if index is None:
                    return False
                value = int(index())
            return self.range[0] <= value <= self.range[1]
        if self.name == "string":
            return isinstance(value, str) and _fits(value)
        if self.name == "float64":
            return isinstance(value, int | float)
        if self.name == "bool":
            return True
        return isinstance(value, bytes | bytearray | memoryview) and (self.name != "uuid" or len(value) == 16)


def _fits(text: str) -> bool:
    try:
        return len(text.encode()) <= STRING_MAX
    except UnicodeEncodeError:  # a lone surrogate
        return False


class Array:
    """`array[T]`: decoded to a tuple."""

    __slots__ = ("element",)

    def __init__(self, element: object) -> None:
        self.element = element

    def __repr__(self) -> str:
        return f"array[{getattr(self.element, '__name__', self.element)}]"


class Nullable:
    """`nullable[T]`: a string, bytes, array or struct that may be None."""

    __slots__ = ("inner",)

    def __init__(self, inner: object) -> None:
        self.inner = inner

    def __repr__(self) -> str:
        return f"nullable[{getattr(self.inner, '__name__', self.inner)}]"


class _Of:
    """Makes `array[int32]` an ordinary expression at run time."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[object], object]) -> None:
        self.make = make

    def __getitem__(self, item: object) -> object:
        return self.make(item)


if TYPE_CHECKING:
    from typing import TypeAlias, TypeVar

    T = TypeVar("T")
    int8 = int
    int16 = int
    uint16 = int
    int32 = int
    int64 = int
    float64 = float
    boolean = bool
    string = str
    uuid = bytes
    blob = bytes
    record_bytes = bytes
    array: TypeAlias = tuple[T, ...]  # noqa: PYI042 - named as the wire type
    nullable: TypeAlias = T | None  # noqa: PYI042
else:
    int8 = Primitive("int8", "b", 1, 0)
    int16 = Primitive("int16", "h", 2, 0)
    uint16 = Primitive("uint16", "H", 2, 0)
    int32 = Primitive("int32", "i", 4, 0)
    int64 = Primitive("int64", "q", 8, 0)
    float64 = Primitive("float64", "d", 8, 0.0)
    boolean = Primitive("bool", "?", 1, False)
    uuid = Primitive("uuid", "16s", 16, bytes(16))
    string = Primitive("string", "", 0, "")
    blob = Primitive("bytes", "", 0, b"")
    record_bytes = Primitive("records", "", 0, None)
    array = _Of(Array)
    nullable = _Of(Nullable)

INT16 = Layout(">h")
INT32 = Layout(">i")

# One byte for lengths below 128, so the encoders index this table; longer ones call `uvarint`.
ONE_BYTE = tuple(bytes([i]) for i in range(128))


def uvarint(value: int) -> bytes:
    """An unsigned varint of up to 5 bytes (or 10 for a varlong): 7 bits a byte, least significant first."""
    if value < 128:
        return ONE_BYTE[value]
    if value < 1 << 14:
        return bytes((value & 127 | 128, value >> 7))
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(data: bytes, position: int) -> tuple[int, int]:
    """The unsigned 32-bit varint at `position`, and the position after it.

    Raises ValueError when it is longer than 5 bytes or exceeds 32 bits, IndexError at the end of the data.
    """
    value = data[position]
    position += 1
    if value < 128:
        return value, position
    value &= 127
    shift = 7
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value > 0xFFFFFFFF:
                raise ValueError(f"varint {value} exceeds 32 bits")
            return value, position
        shift += 7
        if shift > 28:
            raise ValueError("varint is longer than 5 bytes")


def signed_uvarint(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned varint as Java reads it: an int, negative from 2^31 on, without the bits beyond the 32nd.

    Raises ValueError when it is longer than 5 bytes, IndexError at the end of the data.
    """
    value = shift = 0
    for _ in range(5):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            value &= 0xFFFFFFFF
            return value - (1 << 32) if value >> 31 else value, position
        shift += 7
    raise ValueError("varint is longer than 5 bytes")


def zigzag(value: int) -> bytes:
    """A signed varint: 0, -1, 1, -2 … become 0, 1, 2, 3 … (32 or 64 bits alike)."""
    return uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def read_zigzag(data: bytes, position: int, bytes_max: int = 5) -> tuple[int, int]:
    """The signed varint at `position`, and the position after it; `bytes_max` is 5 for an int, 10 for a long.

    Raises ValueError when it is longer or exceeds its width, IndexError at the end of the data.
    """
    value = shift = 0
    for _ in range(bytes_max):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> (32 if bytes_max == 5 else 64):
                raise ValueError(f"varint {value} exceeds {32 if bytes_max == 5 else 64} bits")
            return (value >> 1) ^ -(value & 1), position
        shift += 7
    raise ValueError(f"varint is longer than {bytes_max} bytes")
