"""Protocol guides in print, read back: grammars, header versions, error codes, API keys, primitive types.

Three prints are read: the page of the 0.9 era, the page of Kafka 4.1, and what our guide prints. `python -m
tests.records.guide_text FILE` prints the lines of a whole page that the comparison needs, as
`tests/data/protocol-guides` holds them.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

# Name, what stands around the type (`[`, `?`, `?[` or nothing), and the type's name, or the fields of a struct.
Parsed = tuple[str, str, Any]

GRAMMAR = re.compile(r"(\w+) (Request|Response) \(Version: (\d+)\) =>(.*)")
HEADER_GRAMMAR = re.compile(r"(Request|Response) ?Header(?: v(?=\d)| \(Version: )?(\d*)\)? => (.*)")
HEADER_VERSION = re.compile(r"(?:Request|Response) header version: (\d+)")
API = re.compile(r"(\w+) API \(Key: (\d+)\)")
SUB_TYPE = re.compile(r" *(\w+(?:<tag: \d+>)?) => (.*)")
ERROR_ROW = re.compile(r"\| ([A-Z_]+) \| (-?\d+) \| (True|False) \| ?(.*?) ?\|")
TYPE_ROW = re.compile(r"\| ([A-Z_0-9]+) \|(?: [A-Z].*)?$")
API_KEY_ROW = re.compile(r"\| ([A-Z]\w+) \| (\d+) \|$")
# What the struct of a flexible version ends with in the print of 4.1; the print of 4.3 leaves it out.
TAGGED_FIELDS = "_tagged_fields"
UNKNOWN = "?"


class Printed(NamedTuple):
    """One grammar. header_version: of its header, None where the print does not say."""

    title: str
    version: int
    fields: list[Parsed]
    header_version: int | None


class ErrorRow(NamedTuple):
    """A row of the table of errors."""

    name: str
    code: int
    is_retriable: bool
    text: str


class Guide(NamedTuple):
    """What one print says.

    headers: the grammars of the headers; version -1 in 0.9, which does not say it.
    types: the names of the primitive types; empty where there is no table of them.
    """

    grammars: list[Printed]
    headers: list[Printed]
    errors: list[ErrorRow]
    api_keys: dict[str, int]
    types: list[str]


def read_guide(text: str) -> Guide:
    """What a print says; ValueError where a grammar cannot be read."""
    lines = kept_lines(text)
    grammars, headers, errors, types = [], [], [], []
    api_keys = {}
    for number, line in enumerate(lines):
        if match := GRAMMAR.search(line):
            below = _below(lines, number + 1)
            # Where no field is a struct, 4.1 prints the whole grammar on one line.
            names, *on_the_line = re.split(r" (?=\w+ => )", match[4])
            fields, rest = _struct(names, [*on_the_line, *below])
            if rest:
                raise ValueError(f"{match[0]}: nothing refers to {rest[0]!r}")
            after = lines[number + 1 + len(below) : number + 2 + len(below)]
            header = HEADER_VERSION.match(after[0]) if after else None
            title = f"{match[1]} {match[2]}"
            grammars.append(Printed(title, int(match[3]), fields, int(header[1]) if header else None))
        elif match := HEADER_GRAMMAR.search(line):
            names, *on_the_line = re.split(r" (?=\w+ => )", match[3])
            fields, _ = _struct(names, [*on_the_line, *_below(lines, number + 1)])
            headers.append(Printed(f"{match[1]} Header", int(match[2] or -1), fields, None))
        elif match := ERROR_ROW.match(line):
            errors.append(ErrorRow(match[1], int(match[2]), match[3] == "True", match[4]))
        elif match := TYPE_ROW.match(line):
            types.append(match[1])
        elif match := API_KEY_ROW.match(line) or API.match(line):
            api_keys[match[1]] = int(match[2])
    return Guide(grammars, headers, errors, api_keys, types)


def kept_lines(text: str) -> list[str]:
    """The lines of a page that say something of bytes and codes, in order; without tables of fields and sentences."""
    text = re.sub(r"</td>\s*<td>", " | ", text)
    text = re.sub(r"<tr>\s*<td>(.*?)</td>\s*</tr>", r"| \1 |", text)
    lines = []
    in_grammar = False
    for raw in re.sub(r"</?(p|pre|b|br|h4|table|tbody|tr|th)\b[^>]*>", "", html.unescape(text)).splitlines():
        line = re.sub(r"^(Requests|Responses|Headers):", "", raw).rstrip()
        starts = bool(GRAMMAR.match(line) or HEADER_GRAMMAR.match(line))
        in_grammar = starts or (in_grammar and bool(SUB_TYPE.fullmatch(line)))
        line = line if in_grammar else line.lstrip("# ")
        if match := TYPE_ROW.match(line):
            line = f"| {match[1]} |"
        if in_grammar or match or any(row.match(line) for row in (ERROR_ROW, API_KEY_ROW, API, HEADER_VERSION)):
            lines.append(line)
    return lines


def _below(lines: list[str], start: int) -> list[str]:
    end = start
    while end < len(lines) and SUB_TYPE.fullmatch(lines[end]) and not GRAMMAR.match(lines[end]):
        end += 1
    return lines[start:end]


def _struct(names: str, below: list[str]) -> tuple[list[Parsed], list[str]]:
    """The fields of a struct, and the lines that it leaves over.

    The lines of a struct's fields follow in the order of the fields in 4.1 and 4.3; in 0.9 structs come before plain
    fields, and an array of plain values has no line: what it holds is unknown.
    """
    words = re.sub(r"<tag: (\d+)>", r"<tag:\1>", names).split()
    wanted = [re.sub(r"[^\w<:>]", "", word) for word in words if word not in {"{", "?{", "}", TAGGED_FIELDS}]
    around = {
        name: ("?" if word.startswith("?") else "") + ("[" if set(word) & set("([") else "")
        for name, word in zip(wanted, [w for w in words if w not in {"{", "?{", "}", TAGGED_FIELDS}], strict=True)
    }
    found: dict[str, Parsed] = {}
    while below and len(found) < len(wanted):
        match = SUB_TYPE.fullmatch(below[0])
        assert match
        name = match[1].replace("tag: ", "tag:")
        if name not in wanted or name in found:
            break
        below = below[1:]
        if re.fullmatch(r"[A-Z_0-9]+", match[2].strip()):
            found[name] = name, around[name], match[2].strip()
        else:
            inner, below = _struct(match[2], below)
            mark = "?" if match[2].startswith("?{") else around[name]
            found[name] = name, mark, inner
    fields = [found.get(name, (name, around[name], UNKNOWN)) for name in wanted]
    if TAGGED_FIELDS in words:
        fields.append((TAGGED_FIELDS, "", ""))
    return fields, below


if __name__ == "__main__":
    print("\n".join(kept_lines(Path(sys.argv[1]).read_text())))
