"""What decoders and encoders of a message have in common while their source is put together."""

from __future__ import annotations

from struct import Struct as Layout

from records.schema import is_struct, schema_of
from records.wire import TYPE_CHECKING, Primitive

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from records.schema import Field, Schema

# Arrays of up to this many fixed-size elements have a ready layout each; a peer chooses the count, so longer ones are
# made for the occasion and not kept.
SMALL = 64

_layouts: dict[str, Layout] = {}
_small: dict[tuple[str, str], tuple[Any, Any]] = {}


class Source:
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

    def bind(self, stem: str, value: object) -> str:
        """A name by which the generated code can use `value`."""
        name = self.name(stem)
        self.names[name] = value
        return name

    def ordinary(self, schema: Schema) -> list[Field]:
        return [field for field in schema.at(self.version) if field.tag is None]

    def tagged_fields(self, schema: Schema) -> list[Field]:
        fields = [field for field in schema.at(self.version) if field.tag is not None]
        return sorted(fields, key=lambda field: field.tag or 0)

    def tags_of_others(self, schema: Schema) -> list[int]:
        """The tags that the schema has in other versions alone."""
        return sorted({field.tag for field in schema.fields if field.tag is not None and not field.at(self.version)})

    def text(self) -> str:
        """The source as it is compiled, to be read when a codec is in doubt."""
        return "\n".join(self.lines)

    def compile(self) -> Any:
        kind = type(self).__name__.removesuffix("Source").lower()
        code = compile(self.text(), f"<{kind} {self.schema.name} v{self.version}>", "exec")
        names = dict(self.names)
        exec(code, names)  # noqa: S102 - source made above, of names and numbers of the schema
        return names["run"]


def layout(codes: str) -> Layout:
    """The big-endian struct of these letters, compiled once."""
    known = _layouts.get(codes)
    if known is None:
        known = _layouts[codes] = Layout(">" + codes)
    return known


def small_arrays(prefix: str, code: str, method: str) -> tuple[Any, ...]:
    """Bound methods of the layouts `prefix` + 0, 1, 2 … SMALL - 1 elements."""
    key = (prefix + code, method)
    known = _small.get(key)
    if known is None:
        repeated = [f"{count}{code}" if len(code) == 1 else code * count for count in range(SMALL)]
        known = _small[key] = tuple([getattr(Layout(f">{prefix}{codes}"), method) for codes in repeated])
    return known


def large_array(code: str) -> Callable[[int], Layout]:
    """Makes the layout of a longer array."""
    if len(code) == 1:
        return lambda count: Layout(f">{count}{code}")
    return lambda count: Layout(">" + code * count)


def least_size(type_: Any, version: int, flexible: bool, nullable: bool = False) -> int:
    """The fewest bytes that a value of the type takes, at least 1 for an array's element.

    So an array's count is refused before anything is taken for it when it exceeds the bytes that are left; no struct of
    Kafka's is empty in a version in which an array of it is on the wire.
    """
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
