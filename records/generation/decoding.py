"""The source of a decoder: a function that reads one version of one message from bytes.

A run of fixed-size values, with the length byte that follows it, is read by one `struct` call. Every length is compared
with the remaining bytes before anything is allocated for it. The careful variant reads field by field and keeps the
path and the offset of the present field, so that an error can name them; it accepts exactly the same bytes as the fast
one. The lenient variant accepts whatever Kafka's own readers accept, decodes it to the same values, and counts the
elements of arrays, so that a message of few bytes takes no memory without bound.
"""

from __future__ import annotations

from codecs import register_error

from records.generation.source import SMALL, Source, large_array, layout, least_size, small_arrays
from records.schema import Field, is_struct, schema_of
from records.wire import STRING_MAX, TYPE_CHECKING, Primitive, read_uvarint, signed_uvarint, string

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from records.schema import Schema


def _as_java(error: UnicodeError) -> tuple[str, int]:
    """One U+FFFD for each malformed part of UTF-8, which Java and Python find alike but in surrogates: those are one
    part in Java, and three in Python.

    The text is decoded from the first malformed part to its end: a call for each part would take seconds for a frame.
    """
    assert isinstance(error, UnicodeDecodeError)
    rest = error.object[error.start :]
    if b"\xed" in rest:  # the first byte of a surrogate, which no other character contains
        import re  # hardly any message needs it

        rest = re.sub(b"\xed[\xa0-\xbf][\x80-\xbf]", b"\xef\xbf\xbd", rest)
    return rest.decode("utf-8", "replace"), len(error.object)


# The error handler that decodes malformed UTF-8 as Java's String does.
JAVA_TEXT = "as-java"
register_error(JAVA_TEXT, _as_java)


class TooMany(Exception):
    """Raised by a lenient decoder for a message with more elements than may be."""


class DecoderSource(Source):
    """`run(b, p) -> (message, p)`, or with `careful` `run(b, p, at)`, which keeps [field path, offset] in `at`, or with
    `lenient` `run(b, p, left)`, which takes the elements of all arrays, and unknown tags, from the number in `left`,
    and raises TooMany below 0; two numbers count as one element.

    lenient: as Kafka reads. Bytes that are no UTF-8 are U+FFFD; any negative length is null; varints are signed, and
    bits beyond the 32nd are dropped; tags stand in any order, twice too, and the size of a known tag means nothing.
    """

    def __init__(self, schema: Schema, version: int, *, careful: bool = False, lenient: bool = False) -> None:
        super().__init__(schema, version)
        self.careful = careful
        self.lenient = lenient
        self.pending: list[tuple[str, str]] = []  # target and letter of fixed-size values not read yet
        self.names.update(new=object.__new__, uv=_uvarint_tail, wide=_wide_tag, short=_short, null=_null_array)
        if lenient:
            self.names.update(uv=_signed_tail, wide=_signed_tag, TooMany=TooMany)
        self.put(0, f"def run(b, p{', at' if careful else ', left' if lenient else ''}):")
        self.put(1, "e = len(b)")
        value = self.struct(schema, 1, "")
        self.line(1, f"return {value}, p")

    # Order matters between lines that read: `line` first reads what is pending, `free` is for lines that do not read.

    def line(self, depth: int, text: str) -> None:
        codes = "".join(code for _, code in self.pending)
        targets = ", ".join(target for target, _ in self.pending)
        self.pending = []
        if codes == "B":
            self.put(depth, f"{targets} = b[p]; p += 1")
        elif codes:
            unpack = self.bind("U", layout(codes).unpack_from)
            self.put(depth, f"{targets}, = {unpack}(b, p); p += {layout(codes).size}")
        self.put(depth, text)

    def free(self, depth: int, text: str) -> None:
        self.put(depth, text)

    def add_fixed(self, target: str, code: str) -> None:
        self.pending.append((target, code))

    def mark(self, depth: int, path: str) -> None:
        """Note where the field at `path` starts; `path` may hold `{i3}` for an index."""
        if self.careful:
            self.line(depth, f'at[0] = f"{path}"; at[1] = p')

    def struct(self, schema: Schema, depth: int, prefix: str) -> str:
        """Read a struct; returns the name of its value, which is complete once the pending values are read."""
        value = self.name("x")
        self.free(depth, f"{value} = new({self.bind('C', schema.cls)})")
        for field in schema.fields:
            if field.tag is not None or not field.at(self.version):
                self.free(depth, f"{value}.{field.name} = {self.bind('d', field.default_of())}")
        self.free(depth, f"{value}.unknown_tags = ()")
        for field in self.ordinary(schema):
            self.mark(depth, f"{prefix}{field.json_name}")
            self.value(field, f"{value}.{field.name}", depth, f"{prefix}{field.json_name}")
        if self.flexible:
            self.tags(schema, value, depth, prefix)
        return value

    def length(self, name: str, field: Field, depth: int, limit: int = 0) -> None:
        """Read a length or count into `name`: -1 for null, which is refused if the field may not be null.

        limit: the greatest length of a string; 0 for no limit but the remaining bytes.
        """
        compact = self.flexible and field.compact
        if compact:
            self.add_fixed(name, "B")
            if limit:
                self.line(depth, f"if {name} > 127:")
                self.put(depth + 1, f"{name}, p = uv(b, p, {name})")
                self.put(depth + 1, f'if {name} > {limit + 1}: short("string longer than {limit} bytes", {name} - 1)')
            else:
                self.line(depth, f"if {name} > 127: {name}, p = uv(b, p, {name})")
            self.put(depth, f"{name} -= 1")
        else:
            self.add_fixed(name, "h" if limit else "i")
        if not field.nullable_at(self.version):
            self.line(depth, f'if {name} < 0: short("null or a negative length where a value is required", {name})')
        elif not compact and not self.lenient:
            self.line(depth, f'if {name} < -1: short("negative length", {name})')

    def value(self, field: Field, target: str, depth: int, path: str) -> None:
        """Read one value of an ordinary or tagged field into `target`."""
        nullable = field.nullable_at(self.version)
        if field.is_array:
            self.array(field, target, depth, path, nullable)
        elif is_struct(field.type):
            if nullable:
                flag = self.name("f")
                self.add_fixed(flag, "b")
                self.line(depth, f"{target} = None")
                self.put(depth, f"if {flag} >= 0:")
                depth += 1
            value = self.struct(schema_of(field.type), depth, f"{path}.")
            self.line(depth, f"{target} = {value}")
        elif field.type.code:
            self.add_fixed(target, field.type.code)
        else:
            size = self.name("n")
            self.length(size, field, depth, STRING_MAX if field.type is string else 0)
            if nullable:
                self.line(depth, f"if {size} < 0: {target} = None")
                self.put(depth, "else:")
                depth += 1
            end = self.name("q")
            self.line(depth, f"{end} = p + {size}")
            self.put(depth, f'if {end} > e: short("length", {size}, e - p)')
            decoded = f".decode('utf-8', '{JAVA_TEXT}')" if self.lenient else ".decode()"
            text = decoded if field.type is string else ""
            self.put(depth, f"{target} = b[p:{end}]{text}; p = {end}")

    def array(self, field: Field, target: str, depth: int, path: str, nullable: bool) -> None:
        if self.flexible and isinstance(field.element, Primitive) and field.element.code and not self.lenient:
            self.add_fixed_array(field, target, depth, nullable)
            return
        count = self.name("n")
        self.length(count, field, depth)
        if nullable:
            self.line(depth, f"if {count} < 0: {target} = None")
            self.put(depth, "else:")
            depth += 1
        element = field.element
        least = least_size(element, self.version, self.flexible)
        self.line(depth, f'if {count} * {least} > e - p: short("element count", {count}, e - p)')
        is_number = isinstance(element, Primitive) and bool(element.code)
        if self.lenient:
            self.put(depth, f"left[0] -= {count}{' >> 1' if is_number else ''}")
            self.put(depth, "if left[0] < 0: raise TooMany")
        if is_number:
            large = self.bind("L", large_array(element.code))
            self.put(depth, f"{target} = {large}({count}).unpack_from(b, p); p += {least} * {count}")
            return
        items, index = self.name("l"), self.name("i")
        self.put(depth, f"{items} = []")
        self.put(depth, f"for {index} in range({count}):")
        inner = f"{path}[{{{index}}}]"
        if is_struct(element):
            value = self.struct(schema_of(element), depth + 1, f"{inner}.")
            self.line(depth + 1, f"{items}.append({value})")
        else:
            self.mark(depth + 1, inner)
            one, item = Field(), self.name("v")
            one.bind(field.name, element)
            self.value(one, item, depth + 1, inner)
            self.line(depth + 1, f"{items}.append({item})")
        self.put(depth, f"{target} = tuple({items})")

    def add_fixed_array(self, field: Field, target: str, depth: int, nullable: bool) -> None:
        """Read an array of fixed-size elements; for a short one a table has the function for its count."""
        count, size = self.name("n"), field.element.size
        table = (_null_array, *small_arrays("", field.element.code, "unpack_from"))
        small, large = self.bind("A", table), self.bind("L", large_array(field.element.code))
        self.add_fixed(count, "B")
        keyword = "if"
        if nullable:
            self.line(depth, f"if not {count}: {target} = None")
            keyword = "elif"
        self.line(
            depth, f"{keyword} {count} <= {SMALL}: {target} = {small}[{count}](b, p); p += {size} * {count} - {size}"
        )
        self.put(depth, "else:")
        depth += 1
        self.put(depth, f"if {count} > 127: {count}, p = uv(b, p, {count})")
        self.put(depth, f"{count} -= 1")
        self.put(depth, f"if {count} < 0: null(b, p)")
        self.put(depth, f'if {count} * {size} > e - p: short("element count", {count}, e - p)')
        self.put(depth, f"{target} = {large}({count}).unpack_from(b, p); p += {size} * {count}")

    def tags(self, schema: Schema, value: str, depth: int, prefix: str) -> None:
        """Read the tag section; unknown tags are kept. Tags must ascend, as KIP-482 requires of writers.

        As in Kafka, a tag that only other versions of the message have is no unknown one: it is refused.
        """
        count, unknown, last = self.name("t"), self.name("u"), self.name("g")
        place = prefix.rstrip(".")
        self.mark(depth, place)
        self.add_fixed(count, "B")
        self.line(depth, f"if {count}:")
        depth += 1
        self.put(depth, f"if {count} > 127: {count}, p = uv(b, p, {count})")
        # Read leniently it may be negative, which stock refuses since 4.4.
        self.put(depth, f'if not 0 <= {count} * 2 <= e - p: short("tag count", {count}, e - p)')
        if self.lenient:
            self.put(depth, f"left[0] -= {count}")
            self.put(depth, "if left[0] < 0: raise TooMany")
        self.put(depth, f"{unknown} = None; {last} = -1")
        self.put(depth, f"for _ in range({count}):")
        depth += 1
        tag, size, end = self.name("k"), self.name("s"), self.name("q")
        self.mark(depth, place)
        self.put(depth, f"{tag} = b[p]; {size} = b[p + 1]; p += 2")
        self.put(depth, f"if {tag} > 127 or {size} > 127: {tag}, {size}, p = wide(b, p - 2)")
        if self.lenient:
            self.put(depth, f"{end} = p + {size}")
        else:
            self.put(depth, f'if {tag} <= {last}: short("tag out of order", {tag})')
            self.put(depth, f"{last} = {tag}; {end} = p + {size}")
            self.put(depth, f'if {end} > e: short("size of tag", {size}, e - p)')
        keyword = "if"
        for field in self.tagged_fields(schema):
            self.put(depth, f"{keyword} {tag} == {field.tag}:")
            self.mark(depth + 1, f"{prefix}{field.json_name}")
            self.value(field, f"{value}.{field.name}", depth + 1, f"{prefix}{field.json_name}")
            if self.lenient:
                self.line(depth + 1, "pass")
            else:
                self.line(depth + 1, f'if p != {end}: short("size of tag", {size}, p - {end} + {size})')
            keyword = "elif"
        for number in self.tags_of_others(schema):
            self.put(depth, f"{keyword} {tag} == {number}:")
            self.put(depth + 1, f'short("this version of the message has no tag", {number})')
            keyword = "elif"
        if keyword == "elif":
            self.put(depth, "else:")
            depth += 1
        if self.lenient:
            self.put(depth, f'if not p <= {end} <= e: short("size of tag", {size}, e - p)')
        self.put(depth, f"if {unknown} is None: {unknown} = []")
        self.put(depth, f"{unknown}.append(({tag}, b[p:{end}])); p = {end}")
        depth -= 2 if keyword == "elif" else 1
        self.put(depth, f"if {unknown}: {value}.unknown_tags = tuple({unknown})")


def _short(what: str, value: int, left: int | None = None) -> NoReturn:
    if left is None:
        raise ValueError(f"{what}: {value}")
    raise ValueError(f"{what} {value} does not fit: {left} bytes are left")


def _null_array(_data: bytes, _position: int) -> NoReturn:
    raise ValueError("null where an array is required")


def _uvarint_tail(data: bytes, position: int, first: int) -> tuple[int, int]:
    """The rest of the varint whose first byte, above 127, was read already and is before `position`."""
    assert first > 127, first
    return read_uvarint(data, position - 1)


def _wide_tag(data: bytes, position: int) -> tuple[int, int, int]:
    """A tag and its size, one of which takes more than one byte, and the position after them."""
    tag, position = read_uvarint(data, position)
    size, position = read_uvarint(data, position)
    return tag, size, position


def _signed_tail(data: bytes, position: int, first: int) -> tuple[int, int]:
    """As `_uvarint_tail`, with the value that it has in Java's int."""
    assert first > 127, first
    return signed_uvarint(data, position - 1)


def _signed_tag(data: bytes, position: int) -> tuple[int, int, int]:
    """As `_wide_tag`, with the values that they have in Java's int."""
    tag, position = signed_uvarint(data, position)
    size, position = signed_uvarint(data, position)
    return tag, size, position


def make_decoder(schema: Schema, version: int, *, careful: bool = False, lenient: bool = False) -> Any:
    """`decode(data, position) -> (message, end)`, `end` never beyond the data; see `DecoderSource` for the variants."""
    return DecoderSource(schema, version, careful=careful, lenient=lenient).compile()
