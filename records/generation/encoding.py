"""The source of an encoder: a function that appends one version of one message to a bytearray.

A run of fixed-size values, with the zero byte of an empty tag section behind it, is written by one `struct` call. In
the variant with `parts`, large record bytes stay what they are, between pieces of the message.
"""

from __future__ import annotations

from records.generation.source import SMALL, Source, large_array, layout, small_arrays
from records.schema import LATEST, Field, Shared, is_struct, schema_of
from records.wire import ONE_BYTE, STRING_MAX, TYPE_CHECKING, EncodeError, Primitive, read_uvarint, string, uvarint

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from records.schema import Schema

# Record bytes from this size on are a part of their own: below it, copying them costs less than another buffer.
PART_MIN = 4096


class EncoderSource(Source):
    """`run(m, o)`: append message m to bytearray o; with `parts` `run(m, o, parts)`, which returns the last piece."""

    def __init__(self, schema: Schema, version: int, *, parts: bool = False) -> None:
        super().__init__(schema, version)
        self.parts = parts
        self.pending: list[tuple[str, str]] = []  # expression and letter of fixed-size values not written yet
        self.names.update(
            ONE=ONE_BYTE, uvarint=uvarint, refuse=_refuse, merge=_merge, long_tag=_long_tag, Shared=Shared
        )
        self.put(0, "def run(m, o, parts):" if parts else "def run(m, o):")
        self.struct(schema, "m", 1, "o", "")
        self.line(1, "o", "return o" if parts else "return")

    def flush(self, depth: int, out: str) -> None:
        """Write the pending values to `out`."""
        if self.pending:
            self.put(depth, f"{out} += {self.pack_pending()}")
            self.pending = []

    def line(self, depth: int, out: str, text: str) -> None:
        self.flush(depth, out)
        self.put(depth, text)

    def pack_pending(self, tail: str = "") -> str:
        """The expression of the pending values' bytes, and `tail` in letters that take no value."""
        pack = self.bind("P", layout("".join(code for _, code in self.pending) + tail).pack)
        return f"{pack}({', '.join(expression for expression, _ in self.pending)})"

    def struct(self, schema: Schema, value: str, depth: int, out: str, prefix: str) -> None:
        for field in schema.fields:
            if not field.at(self.version) and not field.ignorable:
                self.absent(field, value, depth, prefix)
        for field in self.ordinary(schema):
            self.ordinary_field(field, f"{value}.{field.name}", depth, out, f"{prefix}{field.json_name}")
        if self.flexible:
            self.tags(schema, value, depth, out, prefix)
        else:
            self.put(depth, f'if {value}.unknown_tags: refuse("{prefix}unknownTags", {self.version})')

    def absent(self, field: Field, value: str, depth: int, prefix: str) -> None:
        """Require that a field that the version lacks has its default."""
        differs = self.differs(field, f"{value}.{field.name}")
        self.put(depth, f'if {differs}: refuse("{prefix}{field.json_name}", {self.version})')

    def differs(self, field: Field, name: str) -> str:
        """The expression that `name` does not have the field's default."""
        default = field.default_of()
        if default is None:
            return f"{name} is not None"
        if field.is_array and default == ():
            return f"({name} is None or len({name}) > 0)" if field.null_since <= LATEST else f"len({name}) > 0"
        known = repr(default) if isinstance(default, (int, str)) else self.bind("d", default)
        if is_struct(field.type):
            return f"({name} is not {known} and {name} != {known})"
        return f"{name} != {known}"

    def ordinary_field(self, field: Field, expression: str, depth: int, out: str, path: str) -> None:
        if field.is_array or is_struct(field.type) or not field.type.code:
            name = self.name("v")
            self.put(depth, f"{name} = {expression}")
            self.value(field, name, depth, out, path)
        elif field.type.code == "16s":
            name = self.name("v")
            self.put(depth, f"{name} = {expression}")
            self.put(depth, f'if len({name}) != 16: refuse("{path}", {self.version}, "no 16 bytes of uuid")')
            self.pending.append((name, "16s"))
        else:
            self.pending.append((expression, field.type.code))

    def length(self, field: Field, expression: str, depth: int, out: str, width: int) -> None:
        if self.flexible and field.compact:
            size = self.name("n")
            self.line(depth, out, f"{size} = {expression} + 1")
            self.put(depth, f"{out} += ONE[{size}] if {size} < 128 else uvarint({size})")
        else:
            self.pending.append((expression, "h" if width == 2 else "i"))

    def null(self, field: Field, name: str, depth: int, out: str, path: str) -> int:
        """Write null if `name` is None, or refuse it; returns the depth for what follows."""
        if not field.nullable_at(self.version):
            if field.null_since <= LATEST:
                self.put(depth, f'if {name} is None: refuse("{path}", {self.version}, "null")')
            return depth
        if self.flexible and field.compact:
            null = bytes(1)
        else:
            null = b"\xff" * (2 if field.type is string else 4)
        self.line(depth, out, f"if {name} is None: {out} += {null!r}")
        self.put(depth, "else:")
        return depth + 1

    def value(self, field: Field, name: str, depth: int, out: str, path: str) -> None:
        """Write `name`: an array, a struct, or a string or bytes."""
        start = depth
        if field.is_array:
            depth = self.null(field, name, depth, out, path)
            if field.shared:
                self.shared_array(field, name, depth, out, path)
            else:
                self.array(field, name, depth, out, path)
        elif is_struct(field.type):
            if field.nullable_at(self.version):
                self.line(depth, out, f"if {name} is None: {out} += {bytes([255])!r}")
                self.put(depth, "else:")
                depth += 1
                self.put(depth, f"{out} += {bytes([1])!r}")
            self.struct(schema_of(field.type), name, depth, out, f"{path}.")
        elif field.type is string:
            depth = self.null(field, name, depth, out, path)
            text = self.name("s")
            self.put(depth, f"{text} = {name}.encode()")
            self.put(depth, f'if len({text}) > {STRING_MAX}: refuse("{path}", {self.version}, "a string too long")')
            self.length(field, f"len({text})", depth, out, 2)
            self.line(depth, out, f"{out} += {text}")
        else:
            depth = self.null(field, name, depth, out, path)
            self.length(field, f"len({name})", depth, out, 4)
            self.blob(name, depth, out)
        if depth != start:
            self.flush(depth, out)

    def blob(self, name: str, depth: int, out: str) -> None:
        if not self.parts or out != "o":
            self.line(depth, out, f"{out} += {name}")
            return
        self.line(depth, out, f"if len({name}) < {PART_MIN}: o += {name}")
        self.put(depth, f"else: parts.append(o); parts.append({name}); o = bytearray()")

    def shared_array(self, field: Field, name: str, depth: int, out: str, path: str) -> None:
        """Write an array, whose bytes are kept if it is `Shared`."""
        known, begin = self.name("k"), self.name("b")
        key = repr(f"{self.schema.name}.{path} v{self.version}")
        self.line(depth, out, f"{known} = {name}.encoded.get({key}) if type({name}) is Shared else None")
        self.put(depth, f"if {known} is not None: {out} += {known}")
        self.put(depth, "else:")
        self.put(depth + 1, f"{begin} = len({out})")
        self.array(field, name, depth + 1, out, path)
        self.put(depth + 1, f"if type({name}) is Shared: {name}.encoded[{key}] = bytes({out}[{begin}:])")

    def array(self, field: Field, name: str, depth: int, out: str, path: str) -> None:
        element = field.element
        if isinstance(element, Primitive) and element.code and element.code != "16s":
            count = self.name("n")
            prefix = "B" if self.flexible else "i"
            small = self.bind("A", small_arrays(prefix, element.code, "pack"))
            large = self.bind("L", large_array(element.code))
            self.line(depth, out, f"{count} = len({name})")
            wire = f"{count} + 1" if self.flexible else count
            head = f"uvarint({wire})" if self.flexible else f"{self.bind('P', layout('i').pack)}({wire})"
            self.put(depth, f"if {count} < {SMALL}: {out} += {small}[{count}]({wire}, *{name})")
            self.put(depth, f"else: {out} += {head}; {out} += {large}({count}).pack(*{name})")
            return
        self.length(field, f"len({name})", depth, out, 4)
        if isinstance(element, Primitive) and element.code:
            joined = self.name("j")
            self.line(depth, out, f"{joined} = b''.join({name})")
            ragged = f"len({joined}) != 16 * len({name})"
            self.put(depth, f'if {ragged}: refuse("{path}", {self.version}, "a uuid of other than 16 bytes")')
            self.put(depth, f"{out} += {joined}")
            return
        item = self.name("v")
        self.line(depth, out, f"for {item} in {name}:")
        if is_struct(element):
            self.struct(schema_of(element), item, depth + 1, out, f"{path}[].")
        else:
            one = Field()
            one.bind(field.name, element)
            self.value(one, item, depth + 1, out, f"{path}[]")
        self.flush(depth + 1, out)

    def tags(self, schema: Schema, value: str, depth: int, out: str, prefix: str) -> None:
        """Write the tag section: fields that differ from their defaults, and unknown ones, in the order of tags."""
        fields = self.tagged_fields(schema)
        unknown, present = self.name("u"), self.name("t")
        self.put(depth, f"{unknown} = {value}.unknown_tags")
        names = {field.name: self.name("v") for field in fields}
        for field in fields:
            self.put(depth, f"{names[field.name]} = {value}.{field.name}")
        if fields:
            counted = " + ".join(f"({self.differs(field, names[field.name])})" for field in fields)
            self.put(depth, f"{present} = {counted}")
            empty = f"not {present} and not {unknown}"
        else:
            self.put(depth, f"{present} = 0")
            empty = f"not {unknown}"
        if self.pending:
            with_end, without = self.pack_pending("x"), self.pack_pending()
            self.pending = []
            self.put(depth, f"if {empty}: {out} += {with_end}")
            self.put(depth, "else:")
            self.put(depth + 1, f"{out} += {without}")
        else:
            self.put(depth, f"if {empty}: {out} += {bytes(1)!r}")
            self.put(depth, "else:")
        body = self.name("y")
        self.put(depth + 1, f"if {unknown}: {body} = bytearray()")
        self.put(depth + 1, f"else: {body} = {out}; {body} += ONE[{present}]")
        for field in fields:
            name = names[field.name]
            self.put(depth + 1, f"if {self.differs(field, name)}:")
            self.one_tag(field, name, depth + 2, body, f"{prefix}{field.json_name}")
        self.put(depth + 1, f"if {unknown}: merge({out}, {present}, {body}, {unknown})")

    def one_tag(self, field: Field, name: str, depth: int, out: str, path: str) -> None:
        """Write tag, size and value of one field."""
        element = field.element
        if isinstance(field.type, Primitive) and field.type.code and field.type.code != "16s":
            pack = self.bind("P", layout("BB" + field.type.code).pack)
            self.put(depth, f"{out} += {pack}({field.tag}, {field.type.size}, {name})")
            return
        numbers = field.is_array and isinstance(element, Primitive) and element.code not in ("", "16s")
        if numbers and (field.default_of() is None or not field.nullable_at(self.version)):
            # The size of a short array needs no buffer to be known: it stays below 128 up to this count.
            limit = min(SMALL, 126 // element.size + 1)
            small, count = self.bind("A", small_arrays("BBB", element.code, "pack")), self.name("n")
            large = self.bind("L", large_array(element.code))
            self.put(depth, f"{count} = len({name})")
            head = f"{field.tag}, {element.size} * {count} + 1, {count} + 1"
            self.put(depth, f"if {count} < {limit}: {out} += {small}[{count}]({head}, *{name})")
            self.put(depth, f"else: long_tag({out}, {field.tag}, {large}({count}).pack(*{name}), {count})")
            return
        body = self.name("y")
        self.put(depth, f"{body} = bytearray()")
        self.ordinary_field(field, name, depth, body, path)
        self.line(depth, body, f"{out} += uvarint({field.tag}); {out} += uvarint(len({body})); {out} += {body}")


def _long_tag(out: bytearray, tag: int, elements: bytes, count: int) -> None:
    """A tagged array of many elements."""
    head = uvarint(count + 1)
    out += uvarint(tag) + uvarint(len(head) + len(elements)) + head + elements


def _merge(out: bytearray, count: int, known: bytearray, unknown: tuple[tuple[int, bytes], ...]) -> None:
    """A tag section with unknown fields: `count` encoded known ones in `known`, and the unknown ones, sorted by tag."""
    tags: dict[int, bytes] = {}
    data = bytes(known)
    position = 0
    for _ in range(count):
        tag, position = read_uvarint(data, position)
        size, position = read_uvarint(data, position)
        tags[tag] = data[position : position + size]
        position += size
    for tag, value in unknown:
        if tag in tags:
            raise EncodeError(f"tag {tag} is given twice, in a field and in unknown_tags")
        tags[tag] = bytes(value)
    out += uvarint(len(tags))
    for tag in sorted(tags):
        out += uvarint(tag) + uvarint(len(tags[tag])) + tags[tag]


def _refuse(path: str, version: int, what: str = "a value") -> NoReturn:
    raise EncodeError(f"{path} has {what}, which version {version} cannot carry")


def make_encoder(schema: Schema, version: int, *, parts: bool = False) -> Any:
    """`encode(message, out)`, which appends to a bytearray; see `EncoderSource` for `parts`."""
    return EncoderSource(schema, version, parts=parts).compile()
