"""Encoding and decoding: for each class and version a pair of specialised functions, generated when first used.

The generated code reads and writes a run of fixed-size fields with one `struct` call and checks every length against
the bytes that are left before it takes memory for it. When decoding fails, a second, careful function generated from
the same schema reads field by field and names the place of the fault; see DESIGN.md.
"""

from __future__ import annotations

from functools import cache
from struct import Struct as Layout
from struct import error as StructError
from typing import TYPE_CHECKING, Any, TypeVar

from records.schema import Field, Message, Schema, is_struct, schema_of
from records.wire import ONE_BYTE, DecodeError, EncodeError, Primitive, read_uvarint, uvarint

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

Decoder = "Callable[[bytes, int], tuple[Any, int]]"

# What a fast decoder raises on bytes that are not its message.
MALFORMED = (ValueError, IndexError, StructError, OverflowError)


def decode(cls: type[T], version: int, data: bytes) -> T:
    """The message of class `cls` that fills `data` exactly.

    Raises DecodeError where the bytes are not such a message, or bytes are left after it.
    """
    value, end = decode_prefix(cls, version, data, 0)
    if end != len(data):
        raise DecodeError(cls.__name__, version, "", end, f"{len(data) - end} bytes are left after the message")
    return value


def decode_prefix(cls: type[T], version: int, data: bytes, position: int) -> tuple[T, int]:
    """The message that starts at `position`, and the position after it; raises DecodeError."""
    try:
        value, end = decoder(cls, version)(data, position)
        if end <= len(data):
            return value, end  # type: ignore[no-any-return]
    except MALFORMED:
        pass
    _explain(cls, version, data, position)
    raise AssertionError(f"{cls.__name__} v{version}: careful decoding accepts what fast decoding refuses")


def encode(value: object, version: int) -> bytes:
    """The bytes of a message; raises EncodeError where the version cannot carry it."""
    out = bytearray()
    encode_into(value, version, out)
    return bytes(out)


def encode_into(value: object, version: int, out: bytearray) -> None:
    """Append the message's bytes to `out`; raises EncodeError, and then `out` may hold a part of it."""
    cls = type(value)
    try:
        encoder(cls, version)(value, out)
    except (StructError, TypeError, AttributeError, OverflowError, UnicodeEncodeError) as error:
        raise EncodeError(f"{cls.__name__} v{version}: {error}") from error


def _checked(cls: type, version: int, error: type[Exception]) -> Schema:
    schema = schema_of(cls)
    first, last = schema.versions
    if not first <= version <= last:
        raise EncodeError(f"{schema.name} has versions {first} to {last}, not {version}") if error is EncodeError \
            else DecodeError(schema.name, version, "", 0, f"there are versions {first} to {last}")  # fmt: skip
    return schema


@cache
def decoder(cls: type, version: int) -> Any:
    """`decode(data, position) -> (message, end)`; `end` may lie beyond the data, and the caller must check that."""
    schema = _checked(cls, version, DecodeError)
    return _DecoderSource(schema, version, careful=False).compiled()


@cache
def _careful_decoder(cls: type, version: int) -> Any:
    return _DecoderSource(schema_of(cls), version, careful=True).compiled()


@cache
def encoder(cls: type, version: int) -> Any:
    """`encode(message, out)` appends to a bytearray."""
    schema = _checked(cls, version, EncodeError)
    return _EncoderSource(schema, version).compiled()


def _explain(cls: type, version: int, data: bytes, position: int) -> None:
    """Raise the DecodeError that names field and offset of the fault in `data`."""
    at: list[Any] = ["", position]
    try:
        _careful_decoder(cls, version)(data, position, at)
    except MALFORMED as error:
        reason = str(error)
        if isinstance(error, (IndexError, StructError)):
            reason = f"the data end at byte {len(data)}"
        elif isinstance(error, UnicodeDecodeError):
            reason = f"not UTF-8: {error.reason}"
        raise DecodeError(cls.__name__, version, at[0].rstrip("."), at[1] - position, reason) from None


@cache
def layout(codes: str) -> Layout:
    """The big-endian struct of these letters, compiled once."""
    return Layout(">" + codes)


class _Source:
    """Lines of a function under construction, and the objects that it names."""

    def __init__(self, schema: Schema, version: int) -> None:
        self.schema = schema
        self.version = version
        self.flexible = schema.is_flexible(version)
        self.lines: list[str] = []
        self.names: dict[str, object] = {}
        self.count = 0

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def bound(self, stem: str, value: object) -> str:
        """A name that the generated code can use for `value`."""
        name = self.name(stem)
        self.names[name] = value
        return name

    def fixed_run(self, fields: list[Field], start: int) -> list[Field]:
        """The untagged fixed-size fields from index `start` on."""
        run = []
        for field in fields[start:]:
            if field.is_array or not isinstance(field.type, Primitive) or not field.type.code:
                break
            run.append(field)
        return run

    def ordinary(self, schema: Schema) -> list[Field]:
        return [field for field in schema.at(self.version) if field.tag is None]

    def tagged(self, schema: Schema) -> list[Field]:
        fields = [field for field in schema.at(self.version) if field.tag is not None]
        return sorted(fields, key=lambda field: field.tag or 0)

    def compiled(self) -> Any:
        source = "\n".join(self.lines)
        code = compile(source, f"<{type(self).__name__[1:-6].lower()} {self.schema.name} v{self.version}>", "exec")
        names = dict(self.names)
        exec(code, names)
        return names["run"]


def least_size(type_: Any, version: int, flexible: bool, nullable: bool = False) -> int:
    """The fewest bytes that a value of the type takes, at least 1 for an array's element."""
    if is_struct(type_):
        if nullable:
            return 1
        size = 1 if flexible else 0
        for field in schema_of(type_).at(version):
            if field.tag is None:
                inner = None if field.is_array else field.type
                size += least_size(inner, version, flexible, field.nullable_at(version))
        return max(size, 1)
    if isinstance(type_, Primitive) and type_.code:
        return type_.size
    if flexible:
        return 1
    return 2 if isinstance(type_, Primitive) and type_.name == "string" else 4


class _DecoderSource(_Source):
    """`run(b, p) -> (message, p)`, or with `careful` `run(b, p, at)`, which keeps [field path, offset] in `at`."""

    def __init__(self, schema: Schema, version: int, careful: bool) -> None:
        super().__init__(schema, version)
        self.careful = careful
        self.names.update(uv=_uvarint_tail, ruv=read_uvarint, short=_short)
        self.put(0, "def run(b, p, at):" if careful else "def run(b, p):")
        self.put(1, "e = len(b)")
        value = self.struct(schema, 1, "")
        self.put(1, f"return {value}, p")

    def mark(self, depth: int, path: str) -> None:
        if self.careful:
            self.put(depth, f"at[0] = {path}; at[1] = p")

    @staticmethod
    def path(prefix: str, name: str) -> str:
        """An f-string expression for the path of a field, for example f"topics[{i3}].name"."""
        return f'f"{prefix}{name}"'

    def struct(self, schema: Schema, depth: int, prefix: str) -> str:
        """Read a struct; returns the expression of its value."""
        values: dict[str, str] = {}
        fields = self.ordinary(schema)
        index = 0
        while index < len(fields):
            run = self.fixed_run(fields, index)
            if run and not self.careful:
                names = [self.name("v") for _ in run]
                packed = layout("".join(field.type.code for field in run))
                unpack = self.bound("U", packed.unpack_from)
                self.put(depth, f"{', '.join(names)}, = {unpack}(b, p); p += {packed.size}")
                values.update(zip((field.name for field in run), names, strict=True))
                index += len(run)
                continue
            field = fields[index]
            index += 1
            name = self.name("v")
            values[field.name] = name
            self.mark(depth, self.path(prefix, field.json_name))
            self.value(field, name, depth, f"{prefix}{field.json_name}")
        unknown = None
        if self.flexible:
            unknown = self.tags(schema, values, depth, prefix)
        cls = self.bound("C", schema.cls)
        arguments = []
        keywords = False  # positional as long as no field is absent
        for field in schema.fields:
            value = values.get(field.name)
            if value is None:
                if field.required:
                    value = self.bound("d", field.default_of())
                else:
                    keywords = True
                    continue
            arguments.append(f"{field.name}={value}" if keywords else value)
        if unknown is not None:
            arguments.append(f"unknown_tags={unknown}")
        return f"{cls}({', '.join(arguments)})"

    def length(self, name: str, field: Field, depth: int, width: int) -> None:
        """Read a length or count into `name`: -1 for null, which is refused where the field may not be null."""
        if self.flexible and field.compact:
            self.put(depth, f"{name} = b[p]; p += 1")
            self.put(depth, f"if {name} > 127: {name}, p = uv(b, p, {name})")
            self.put(depth, f"{name} -= 1")
        else:
            unpack = self.bound("U", layout("h" if width == 2 else "i").unpack_from)
            self.put(depth, f"{name}, = {unpack}(b, p); p += {width}")
        if not field.nullable_at(self.version):
            self.put(depth, f'if {name} < 0: short("null where a value is required", {name})')
        elif not (self.flexible and field.compact):
            self.put(depth, f'if {name} < -1: short("negative length", {name})')

    def value(self, field: Field, name: str, depth: int, path: str) -> None:
        """Read one value of an ordinary or tagged field into `name`."""
        nullable = field.nullable_at(self.version)
        if field.is_array:
            self.array(field, name, depth, path, nullable)
        elif is_struct(field.type):
            if nullable:
                self.put(depth, "m = b[p]; p += 1")
                self.put(depth, f"{name} = None")
                self.put(depth, "if m < 128:")
                depth += 1
            value = self.struct(schema_of(field.type), depth, f"{path}.")
            self.put(depth, f"{name} = {value}")
        elif field.type.code:
            packed = layout(field.type.code)
            self.put(depth, f"{name}, = {self.bound('U', packed.unpack_from)}(b, p); p += {packed.size}")
        else:
            size = self.name("n")
            self.length(size, field, depth, 2 if field.type.name == "string" else 4)
            if nullable:
                self.put(depth, f"if {size} < 0: {name} = None")
                self.put(depth, "else:")
                depth += 1
            self.sized(field.type, size, name, depth)

    def sized(self, type_: Any, size: str, name: str, depth: int) -> None:
        """Read a string or bytes of `size` bytes."""
        end = self.name("q")
        self.put(depth, f"{end} = p + {size}")
        self.put(depth, f'if {end} > e: short("length", {size}, e - p)')
        self.put(depth, f"{name} = b[p:{end}]{'.decode()' if type_.name == 'string' else ''}; p = {end}")

    def array(self, field: Field, name: str, depth: int, path: str, nullable: bool) -> None:
        count = self.name("n")
        self.length(count, field, depth, 4)
        if nullable:
            self.put(depth, f"if {count} < 0: {name} = None")
            self.put(depth, "else:")
            depth += 1
        element = field.element
        least = least_size(element, self.version, self.flexible)
        self.put(depth, f'if {count} * {least} > e - p: short("element count", {count}, e - p)')
        if isinstance(element, Primitive) and element.code:
            if element.code == "16s":
                self.put(depth, f"{name} = tuple([b[i:i + 16] for i in range(p, p + 16 * {count}, 16)])")
            else:
                small = self.bound("A", _array_layouts(element.code))
                large = self.bound("L", _large_array(element.code))
                self.put(depth, f"{name} = ({small}[{count}] if {count} < 64 else {large}({count})).unpack_from(b, p)")
            self.put(depth, f"p += {least} * {count}")
            return
        items, item, index = self.name("l"), self.name("v"), self.name("i")
        self.put(depth, f"{items} = []")
        self.put(depth, f"for {index} in range({count}):")
        inner = f"{path}[{{{index}}}]"
        if is_struct(element):
            value = self.struct(schema_of(element), depth + 1, f"{inner}.")
            self.put(depth + 1, f"{items}.append({value})")
        else:
            self.mark(depth + 1, self.path(inner, ""))
            one = Field()
            one.bind(field.name, element)
            self.value(one, item, depth + 1, inner)
            self.put(depth + 1, f"{items}.append({item})")
        self.put(depth, f"{name} = tuple({items})")

    def tags(self, schema: Schema, values: dict[str, str], depth: int, prefix: str) -> str:
        """Read the tag section; unknown tags are kept as they are. Returns the name of what was unknown."""
        tags, unknown, last = self.name("t"), self.name("u"), self.name("g")
        fields = self.tagged(schema)
        for field in fields:
            name = self.name("v")
            values[field.name] = name
            self.put(depth, f"{name} = {self.bound('d', field.default_of())}")
        self.mark(depth, self.path(prefix, ""))
        self.put(depth, f"{unknown} = ()")
        self.put(depth, f"{tags} = b[p]; p += 1")
        self.put(depth, f"if {tags}:")
        depth += 1
        self.put(depth, f"if {tags} > 127: {tags}, p = uv(b, p, {tags})")
        self.put(depth, f'if {tags} * 2 > e - p: short("tag count", {tags}, e - p)')
        self.put(depth, f"{last} = -1")
        self.put(depth, f"for _ in range({tags}):")
        depth += 1
        tag, size, end = self.name("k"), self.name("s"), self.name("q")
        self.mark(depth, self.path(prefix, ""))
        self.put(depth, f"{tag}, p = ruv(b, p)")
        self.put(depth, f'if {tag} <= {last}: short("tag out of order", {tag})')
        self.put(depth, f"{last} = {tag}")
        self.put(depth, f"{size}, p = ruv(b, p)")
        self.put(depth, f"{end} = p + {size}")
        self.put(depth, f'if {end} > e: short("size of tag", {size}, e - p)')
        keyword = "if"
        for field in fields:
            self.put(depth, f"{keyword} {tag} == {field.tag}:")
            self.mark(depth + 1, self.path(prefix, field.json_name))
            self.value(field, values[field.name], depth + 1, f"{prefix}{field.json_name}")
            self.put(depth + 1, f'if p != {end}: short("size of tag", {size}, p - {end} + {size})')
            keyword = "elif"
        inner = depth
        if fields:
            self.put(depth, "else:")
            inner += 1
        self.put(inner, f"{unknown} += (({tag}, b[p:{end}]),); p = {end}")
        return unknown


def _short(what: str, value: int, left: int | None = None) -> None:
    if left is None:
        raise ValueError(f"{what}: {value}")
    raise ValueError(f"{what} {value} does not fit: {left} bytes are left")


def _uvarint_tail(data: bytes, position: int, first: int) -> tuple[int, int]:
    """The rest of a varint whose first byte, above 127, is read already."""
    return read_uvarint(data, position - 1)


@cache
def _array_layouts(code: str) -> tuple[Layout, ...]:
    """Layouts of arrays of up to 63 elements, by their count."""
    return tuple(Layout(f">{count}{code}") for count in range(64))


def _large_array(code: str) -> Callable[[int], Layout]:
    """Makes the layout of a longer array; not kept, since a peer chooses the count."""
    return lambda count: Layout(f">{count}{code}")


class _EncoderSource(_Source):
    """`run(m, o)`: append message m to bytearray o."""

    def __init__(self, schema: Schema, version: int) -> None:
        super().__init__(schema, version)
        self.names.update(uvarint=uvarint, ONE=ONE_BYTE, refuse=_refuse)
        self.put(0, "def run(m, o):")
        self.put(1, "pass")
        self.struct(schema, "m", 1, "o", "")

    def struct(self, schema: Schema, value: str, depth: int, out: str, prefix: str) -> None:
        for field in schema.fields:
            if not field.at(self.version) and not field.ignorable:
                self.absent(field, value, depth, prefix)
        fields = self.ordinary(schema)
        index = 0
        while index < len(fields):
            run = self.fixed_run(fields, index)
            if run:
                pack = self.bound("P", layout("".join(field.type.code for field in run)).pack)
                self.put(depth, f"{out} += {pack}({', '.join(f'{value}.{field.name}' for field in run)})")
                index += len(run)
                continue
            field = fields[index]
            index += 1
            name = self.name("v")
            self.put(depth, f"{name} = {value}.{field.name}")
            self.value(field, name, depth, out, f"{prefix}{field.json_name}")
        if self.flexible:
            self.tags(schema, value, depth, out, prefix)
        else:
            self.put(depth, f'if {value}.unknown_tags: refuse("{prefix}unknownTags", {self.version})')

    def absent(self, field: Field, value: str, depth: int, prefix: str) -> None:
        """A field that the version lacks must have its default."""
        if field.default_of() is None:
            differs = f"{value}.{field.name} is not None"
        elif field.is_array and field.default_of() == ():
            differs = f"{value}.{field.name}"
        else:
            differs = f"{value}.{field.name} != {self.bound('d', field.default_of())}"
        self.put(depth, f'if {differs}: refuse("{prefix}{field.json_name}", {self.version})')

    def length(self, field: Field, expression: str, depth: int, out: str, width: int) -> None:
        if self.flexible and field.compact:
            size = self.name("n")
            self.put(depth, f"{size} = {expression} + 1")
            self.put(depth, f"{out} += ONE[{size}] if {size} < 128 else uvarint({size})")
        else:
            pack = self.bound("P", layout("h" if width == 2 else "i").pack)
            self.put(depth, f"{out} += {pack}({expression})")

    def null(self, field: Field, name: str, depth: int, out: str, path: str, width: int) -> int:
        """Write null where `name` is None, or refuse it; returns the depth for what follows."""
        if not field.nullable_at(self.version):
            if field.null_since <= 32767:
                self.put(depth, f'if {name} is None: refuse("{path}", {self.version}, "null")')
            return depth
        null = b"\x00" if self.flexible and field.compact else b"\xff" * width
        self.put(depth, f"if {name} is None: {out} += {self.bound('N', null)}")
        self.put(depth, "else:")
        return depth + 1

    def value(self, field: Field, name: str, depth: int, out: str, path: str) -> None:
        if field.is_array:
            depth = self.null(field, name, depth, out, path, 4)
            self.length(field, f"len({name})", depth, out, 4)
            self.elements(field, name, depth, out, path)
        elif is_struct(field.type):
            if field.nullable_at(self.version):
                self.put(depth, f"if {name} is None: {out} += {self.bound('N', bytes([255]))}")
                self.put(depth, "else:")
                depth += 1
                self.put(depth, f"{out} += {self.bound('N', bytes([1]))}")
            self.struct(schema_of(field.type), name, depth, out, f"{path}.")
        elif field.type.code:
            self.put(depth, f"{out} += {self.bound('P', layout(field.type.code).pack)}({name})")
        elif field.type.name == "string":
            depth = self.null(field, name, depth, out, path, 2)
            text = self.name("s")
            self.put(depth, f"{text} = {name}.encode()")
            self.length(field, f"len({text})", depth, out, 2)
            self.put(depth, f"{out} += {text}")
        else:
            depth = self.null(field, name, depth, out, path, 4)
            self.length(field, f"len({name})", depth, out, 4)
            self.put(depth, f"{out} += {name}")

    def elements(self, field: Field, name: str, depth: int, out: str, path: str) -> None:
        element = field.element
        if isinstance(element, Primitive) and element.code:
            if element.code == "16s":
                self.put(depth, f"for i in {name}: {out} += {self.bound('P', layout('16s').pack)}(i)")
                return
            small = self.bound("A", _array_layouts(element.code))
            large = self.bound("L", _large_array(element.code))
            self.put(
                depth, f"{out} += ({small}[len({name})] if len({name}) < 64 else {large}(len({name}))).pack(*{name})"
            )
            return
        item = self.name("v")
        self.put(depth, f"for {item} in {name}:")
        if is_struct(element):
            self.struct(schema_of(element), item, depth + 1, out, f"{path}[].")
            return
        one = Field()
        one.bind(field.name, element)
        self.value(one, item, depth + 1, out, f"{path}[]")

    def tags(self, schema: Schema, value: str, depth: int, out: str, prefix: str) -> None:
        fields = self.tagged(schema)
        unknown = f"{value}.unknown_tags"
        if not fields:
            self.names["raw_tags"] = _raw_tags
            self.put(depth, f"if {unknown}: raw_tags({unknown}, {out})")
            self.put(depth, f"else: {out} += {self.bound('N', bytes(1))}")
            return
        found = self.name("t")
        self.put(depth, f"{found} = None")
        for field in fields:
            name, body = self.name("v"), self.name("y")
            default = field.default_of()
            self.put(depth, f"{name} = {value}.{field.name}")
            if default is None:
                differs = f"{name} is not None"
            elif default == ():
                differs = f"{name} is None or len({name})" if field.null_since <= 32767 else f"len({name})"
            else:
                known = self.bound("d", default)
                differs = f"{name} is not {known} and {name} != {known}"
            self.put(depth, f"if {differs}:")
            self.put(depth + 1, f"{body} = bytearray()")
            self.value(field, name, depth + 1, body, f"{prefix}{field.json_name}")
            self.put(depth + 1, f"if {found} is None: {found} = []")
            self.put(depth + 1, f"{found}.append(({field.tag}, {body}))")
        self.names["raw_tags"] = _raw_tags
        self.put(depth, f"if {found} is None and not {unknown}: {out} += {self.bound('N', bytes(1))}")
        self.put(depth, f"else: raw_tags(({found} or ()) if not {unknown} else [*({found} or ()), *{unknown}], {out})")


def _raw_tags(tags: Any, out: bytearray) -> None:
    """A tag section: known and unknown fields in the order of their tags."""
    out += uvarint(len(tags))
    for tag, body in sorted(tags) if len(tags) > 1 else tags:
        out += uvarint(tag) + uvarint(len(body)) + body


def _refuse(path: str, version: int, what: str = "a value") -> None:
    raise EncodeError(f"{path} has {what}, which version {version} cannot carry")


__all__ = ["Message", "decode", "decode_prefix", "decoder", "encode", "encode_into", "encoder"]
