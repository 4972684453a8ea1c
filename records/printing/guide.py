"""A protocol guide as text, like the public one: grammars and fields of messages, error codes, API keys, types.

Everything comes from the message classes: grammars from their fields, descriptions from their docstrings and the
glossary.
"""

from __future__ import annotations

import re

from records.headers import RequestHeader, ResponseHeader, request_header_version, response_header_version
from records.printing.glossary import FIELDS
from records.registry import APIS, METADATA_RECORDS, OTHERS, PROPOSALS, find_class, request_class, response_class
from records.schema import LATEST, is_struct, schema_of
from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from records.schema import Field, Schema

# Type, description.
PRIMITIVES = (
    ("BOOLEAN", "One byte: 0 is false, anything else true; true is written as 1."),
    ("INT8", "One byte, signed."),
    ("INT16", "Two bytes, big-endian, signed."),
    ("UINT16", "Two bytes, big-endian, unsigned."),
    ("INT32", "Four bytes, big-endian, signed."),
    ("UINT32", "Four bytes, big-endian, unsigned; no message has one."),
    ("INT64", "Eight bytes, big-endian, signed."),
    ("FLOAT64", "Eight bytes, big-endian: a double of IEEE 754."),
    ("UNSIGNED_VARINT", "Seven bits a byte, the lowest first; the highest bit says that more follow (KIP-482)."),
    ("VARINT", "An UNSIGNED_VARINT of up to 32 bits in zigzag: 0, -1, 1, -2 are 0, 1, 2, 3."),
    ("VARLONG", "The same of up to 64 bits."),
    ("UUID", "Sixteen bytes."),
    ("STRING", "The length in bytes as an INT16, then UTF-8."),
    ("NULLABLE_STRING", "A STRING, or length -1 for null."),
    ("COMPACT_STRING", "The length in bytes plus 1 as an UNSIGNED_VARINT, then UTF-8; never more than 32767 bytes."),
    ("COMPACT_NULLABLE_STRING", "A COMPACT_STRING, or 0 for null."),
    ("BYTES", "The length as an INT32, then the bytes."),
    ("NULLABLE_BYTES", "BYTES, or length -1 for null."),
    ("COMPACT_BYTES", "The length plus 1 as an UNSIGNED_VARINT, then the bytes."),
    ("COMPACT_NULLABLE_BYTES", "COMPACT_BYTES, or 0 for null."),
    ("RECORDS", "Record batches, as BYTES; NULLABLE_RECORDS as NULLABLE_BYTES."),
    ("COMPACT_RECORDS", "Record batches, as COMPACT_BYTES; COMPACT_NULLABLE_RECORDS as COMPACT_NULLABLE_BYTES."),
    ("[name]", "An array: the count as an INT32, then the elements. With ?, -1 stands for null."),
    ("(name)", "An array: the count plus 1 as an UNSIGNED_VARINT, then the elements. With ?, 0 stands for null."),
    ("{ names }", "A struct: its fields in order. With ?, a byte before it: 1, or -1 for null and nothing more."),
    ("name<tag: n>", "A tagged field (KIP-482). They follow the other fields of each struct in flexible versions."),
    (
        "tagged fields",
        "Their number, then tag, size and value of each, tags ascending, all but values as UNSIGNED_VARINT.",
    ),
)


def grammar(cls: type, version: int, title: str = "") -> str:
    """The grammar of one version, in the form of Kafka 4.3: a line for the message, and one for each field below."""
    schema = schema_of(cls)
    lines = [f"{title or _title(schema, version)} => {_fields(schema, schema.is_flexible(version), version)}"]
    lines += _sub_types(schema, schema.is_flexible(version), version, 2)
    return "\n".join(lines)


def _title(schema: Schema, version: int) -> str:
    name = schema.name
    for side in ("Request", "Response"):
        if schema.kind == side.lower():
            name = f"{name.removesuffix(side)} {side}"
    return f"{name} (Version: {version})"


def _ordinary(schema: Schema, version: int) -> list[Field]:
    return [field for field in schema.at(version) if field.tag is None]


def _tagged_fields(schema: Schema, version: int) -> list[Field]:
    return sorted((field for field in schema.at(version) if field.tag is not None), key=lambda field: field.tag or 0)


def _fields(schema: Schema, flexible: bool, version: int, nullable: bool = False) -> str:
    names = []
    for field in _ordinary(schema, version):
        if field.is_array:
            left, right = "()" if flexible else "[]"
            mark = "?" if field.nullable_at(version) else ""
            names.append(f"{mark}{left}{field.name}{right}")
        else:
            names.append(field.name)
    names += [f"{field.name}<tag: {field.tag}>" for field in _tagged_fields(schema, version)]
    return " ".join(["?{" if nullable else "{", *names, "}"])


def _sub_types(schema: Schema, flexible: bool, version: int, indent: int) -> Iterator[str]:
    named = [(field.name, field) for field in _ordinary(schema, version)]
    named += [(f"{field.name}<tag: {field.tag}>", field) for field in _tagged_fields(schema, version)]
    for name, field in named:
        if is_struct(field.element):
            inner = schema_of(field.element)
            nullable = not field.is_array and field.nullable_at(version)
            yield f"{' ' * indent}{name} => {_fields(inner, flexible, version, nullable)}"
            yield from _sub_types(inner, flexible, version, indent + 2)
        else:
            yield f"{' ' * indent}{name} => {type_name(field, version, flexible)}"


def type_name(field: Field, version: int, flexible: bool) -> str:
    """The name of a field's primitive type in one version; of an array's elements."""
    element = field.element
    if element.code:
        return "BOOLEAN" if element.name == "bool" else str(element.name).upper()
    compact = "COMPACT_" if flexible and field.compact else ""
    nullable = "NULLABLE_" if not field.is_array and field.nullable_at(version) else ""
    return f"{compact}{nullable}{str(element.name).upper()}"


def meanings(cls: type) -> tuple[str, dict[str, str]]:
    """The description of a message class: its first paragraph, and the meanings of its fields, by
    name or end of path.
    """
    text = cls.__doc__ or ""
    head, _, rest = text.partition("\n\n")
    texts: dict[str, str] = {}
    last = ""
    for line in rest.splitlines():
        stripped = line.strip()
        start = re.match(r"([a-z0-9_.]+): (.+)", stripped)
        if start and len(line) - len(stripped) <= 4:
            last = start[1]
            texts[last] = start[2]
        elif stripped and last:
            texts[last] += f" {stripped}"
    return " ".join(head.split()), texts


def meaning(path: str, own: dict[str, str]) -> str:
    """The meaning of the field at a path such as `topics.partitions.fetch_offset`; the message's own description comes
    first.
    """
    parts = path.split(".")
    for start in range(len(parts)):
        if (text := own.get(".".join(parts[start:]))) is not None:
            return text[0].upper() + text[1:]
    text = FIELDS[parts[-1]]
    return f"{text[0].upper()}{text[1:]}."


def fields_of(cls: type, version: int) -> Iterator[tuple[str, Field]]:
    """Path and field of everything on the wire in a version, outer ones first, tagged ones last."""
    yield from _fields_of(schema_of(cls), version, "")


def _fields_of(schema: Schema, version: int, path: str) -> Iterator[tuple[str, Field]]:
    for field in [*_ordinary(schema, version), *_tagged_fields(schema, version)]:
        here = f"{path}{field.name}"
        yield here, field
        if is_struct(field.element):
            yield from _fields_of(schema_of(field.element), version, f"{here}.")


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _field_table(cls: type, version: int) -> str:
    _, own = meanings(cls)
    rows = [
        (path if field.tag is None else f"{path}<tag: {field.tag}>", meaning(path, own))
        for path, field in fields_of(cls, version)
    ]
    return table(("Field", "Description"), rows)


def _one(cls: type, version: int, note: str = "") -> str:
    fields = _field_table(cls, version) if schema_of(cls).at(version) else ""
    parts = [f"```\n{grammar(cls, version)}\n```", note, fields]
    return "\n\n".join(part for part in parts if part)


def api_guide(api_key: int, version: int | None = None) -> str:
    """Request and response of an API: in one version, or in all that Kafka 4.x serves (or served once).

    Raises ValueError if the API has no such version.
    """
    request, response = request_class(api_key), response_class(api_key)
    name = APIS[api_key][0]
    schema = schema_of(request)
    out = [f"### {name} API (Key: {api_key})"]
    for cls, side, header_version in (
        (request, "Request", request_header_version),
        (response, "Response", response_header_version),
    ):
        out += [f"**{side}s.** {meanings(cls)[0]}"]
        for number in _versions(schema, version):
            note = f"{side} header version: {header_version(cls, number)}"
            out.append(_one(cls, number, note))
    if schema.served is None:
        out.insert(1, "No node of Kafka 4.x serves this API.")
    return "\n\n".join(out)


def message_guide(cls: type, version: int | None = None) -> str:
    """A message that is neither request nor response, in one version or in all."""
    schema = schema_of(cls)
    title = f"{schema.name} (Type: {schema.api_key})" if schema.kind == "metadata" else schema.name
    return "\n\n".join(
        [f"### {title}", meanings(cls)[0], *(_one(cls, number) for number in _versions(schema, version))]
    )


def _versions(schema: Schema, version: int | None) -> list[int]:
    first, last = schema.versions
    if version is not None:
        if not first <= version <= last:
            raise ValueError(f"{schema.name} has versions {first} to {last}, not {version}")
        return [version]
    first, last = schema.served or schema.versions
    return list(range(first, last + 1))


def guide_of(name: str, version: int | None = None) -> str:
    """The guide of one API, by name or key, or of one message; raises ValueError for an unknown one."""
    for api_key, (api, _) in APIS.items():
        if name.lower() in (str(api_key), api.lower(), f"{api}Request".lower(), f"{api}Response".lower()):
            return api_guide(api_key, version)
    for known in (*(record for record, _ in METADATA_RECORDS.values()), *OTHERS, *PROPOSALS):
        if name.lower() == known.lower():
            return message_guide(find_class(known), version)
    raise ValueError(f"there is no API or message {name!r}; `guide` without a name lists all")


def error_table() -> str:
    """All error codes."""
    from records.errors import Error

    rows = [(error.name, str(error.value), str(error.is_retriable), error.text) for error in Error]
    return table(("Error", "Code", "Retriable", "Description"), rows)


def api_table() -> str:
    """All API keys, with the versions that Kafka 4.x serves and the first flexible one."""
    rows = []
    for api_key, (name, _) in APIS.items():
        schema = schema_of(request_class(api_key))
        spoken = f"{schema.served[0]}-{schema.served[1]}" if schema.served else "none"
        flexible = f"{schema.flexible}+" if schema.flexible <= LATEST else "none"
        rows.append((name, str(api_key), spoken, flexible))
    return table(("Name", "Key", "Versions", "Flexible"), rows)


def whole_guide() -> Iterator[str]:
    """The guide in pieces: types, errors, APIs, headers, then each API, metadata record and other message."""
    yield "# Kafka protocol guide"
    yield (
        "Before every request and response stands its size as an INT32, then a header and the message, in the versions "
        "given with each. What is known here are all versions of Kafka 4.0 to 4.4, and those before."
    )
    yield "## Protocol primitive types"
    yield table(("Type", "Description"), PRIMITIVES)
    yield "## Error codes"
    yield error_table()
    yield "## API keys"
    yield api_table()
    yield "## Headers"
    for header in (RequestHeader, ResponseHeader):
        yield message_guide(header)
    yield "## Requests and responses"
    for api_key in APIS:
        yield api_guide(api_key)
    yield "## Metadata records"
    yield (
        "Each stands in the value of a record of `__cluster_metadata`, behind the frame version (1), its type and its "
        "version, all three as UNSIGNED_VARINT."
    )
    for record, _ in METADATA_RECORDS.values():
        yield message_guide(find_class(record))
    yield "## Control records and others"
    for name in OTHERS:
        if name not in ("RequestHeader", "ResponseHeader"):
            yield message_guide(find_class(name))
    yield "## Proposals"
    yield "KIP-4 and a proposal for groups wrote these messages. Kafka has others for the same; no node speaks these."
    for name in PROPOSALS:
        yield message_guide(find_class(name))
