"""Metadata records as JSON text, by functions that are generated from their schemas when first used.

The text equals that of `json_form` and `json_text` in `records.printing`, but is made several times faster: a log may
hold millions of records.
"""

from __future__ import annotations

from binascii import b2a_base64
from functools import cache, lru_cache

from records.generation.source import Source
from records.printing.json_text import double_text, json_text
from records.schema import is_struct, schema_of
from records.uuids import uuid_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from records.schema import Field, Schema


@cache
def text_writer(cls: type, version: int) -> Callable[[Any], str]:
    """A function for the JSON text of a message of this class, which must have been decoded in this version."""
    function: Callable[[Any], str] = _TextSource(schema_of(cls), version).compile()
    return function


class _TextSource(Source):
    """`run(m)`: the JSON text of message m. Each struct in it has a function of its own."""

    def __init__(self, schema: Schema, version: int) -> None:
        super().__init__(schema, version)
        self.names.update(
            array=_array,
            base64=_base64,
            boolean=_boolean,
            double=double_text,
            null="null",
            quoted=json_text,
            uuid=quoted_uuid,
        )
        self.functions: dict[Schema, str] = {}
        self.function("run", schema)

    def function(self, name: str, schema: Schema) -> None:
        self.functions[schema] = name
        lines = [f"def {name}(m):", "    s = ''"]
        for field in schema.fields:
            if not field.at(self.version):
                continue
            text = f"s += f',{json_text(field.json_name_at(self.version))}:{{{self.value(field)}}}'"
            if field.tag is None:
                lines.append(f"    {text}")
            elif field.is_array and field.default_of() == ():
                lines.append(f"    if m.{field.name} is None or len(m.{field.name}): {text}")
            else:
                lines.append(f"    if m.{field.name} != {self.bind('d', field.default_of())}: {text}")
        lines.append("    return '{' + s[1:] + '}'")
        for line in lines:
            self.put(0, line)

    def value(self, field: Field) -> str:
        """The expression for a field's text."""
        name = f"m.{field.name}"
        if field.is_array:
            text = f"array([{self.element(field.element, 'e')} for e in {name}])"
        else:
            text = self.element(field.type, name)
        return f"null if {name} is None else {text}" if field.nullable_at(self.version) else text

    def element(self, type_: Any, name: str) -> str:
        if is_struct(type_):
            schema = schema_of(type_)
            if schema not in self.functions:
                self.function(self.name("f"), schema)
            return f"{self.functions[schema]}({name})"
        writer = {
            "string": "quoted", "uuid": "uuid", "bytes": "base64", "records": "base64", "float64": "double",
            "bool": "boolean",
        }.get(type_.name, "str")  # fmt: skip
        return f"{writer}({name})"


def _array(items: Iterable[str]) -> str:
    return f"[{','.join(items)}]"


def _base64(value: bytes) -> str:
    return f'"{b2a_base64(value, newline=False).decode()}"'


def _boolean(value: object) -> str:
    return "true" if value else "false"


@lru_cache(1024)  # the records of a topic follow each other, and there are few directories
def quoted_uuid(value: bytes) -> str:
    """An id as JSON text."""
    return f'"{uuid_text(value)}"'
