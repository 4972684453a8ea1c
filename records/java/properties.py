"""Java's .properties format: what `Properties.load` reads (ISO 8859-1 with escapes), and `store` writes to a writer."""

from __future__ import annotations

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}


class PropertiesError(Exception):
    """The text is not in the format; the message names the line."""


_STORED_ESCAPES = {
    "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\", "=": "\\=", ":": "\\:", "#": "\\#", "!": "\\!",
}  # fmt: skip


def properties_text(values: dict[str, str], comments: tuple[str, ...] = ()) -> str:
    """The lines that Java stores: the comments, then the values, in their order."""
    lines = [f"#{comment}" for comment in comments]
    lines += [f"{_escape(key, is_key=True)}={_escape(value, is_key=False)}" for key, value in values.items()]
    return "".join(f"{line}\n" for line in lines)


def _escape(text: str, *, is_key: bool) -> str:
    """A blank is escaped where it would be lost: anywhere in a key, at the start of a value."""
    parts = [_STORED_ESCAPES.get(character, character) for character in text]
    blanks = len(text) if is_key else 1
    parts[:blanks] = ["\\ " if part == " " else part for part in parts[:blanks]]
    return "".join(parts)


def parse_properties(data: bytes) -> dict[str, str]:
    """The keys and values of a file, in its order; of a repeated key the last value counts.

    Raises PropertiesError for a malformed unicode escape, which is all that Java refuses.
    """
    return parse_properties_text(data.decode("latin-1"))


def parse_properties_text(text: str) -> dict[str, str]:
    """The keys and values of a text, as Java has it from a reader."""
    properties: dict[str, str] = {}
    for number, line in _logical_lines(text):
        key, value = _split(line)
        properties.pop(_unescape(key, number), None)
        properties[_unescape(key, number)] = _unescape(value, number)
    return properties


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines without comments and blank ones, those that end in an odd number of backslashes joined with the next."""
    lines: list[tuple[int, str]] = []
    pending: tuple[int, str] | None = None
    natural = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, raw in enumerate(natural, start=1):
        line = raw.lstrip(_BLANKS)
        # A continuation line is neither blank nor a comment, whatever it begins with.
        if (pending is None or not pending[1]) and (not line or line[0] in "#!"):
            pending = None if line else pending
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        begin, so_far = pending or (number, "")
        if backslashes % 2:
            pending = begin, so_far + line[:-1]
        else:
            lines.append((begin, so_far + line))
            pending = None
    if pending is not None:
        lines.append(pending)
    return lines


def _split(line: str) -> tuple[str, str]:
    """Key and value, still escaped: they part at the first `=`, `:` or blank that no backslash precedes."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _BLANKS:
        end += 2 if line[end] == "\\" else 1
    end = min(end, len(line))
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] in {"=", ":"}:
        rest = rest[1:].lstrip(_BLANKS)
    return line[:end], rest


def _unescape(text: str, number: int) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character != "\\":
            parts.append(character)
            continue
        escaped = text[position : position + 1]
        position += 1
        if escaped != "u":
            parts.append(_ESCAPES.get(escaped, escaped))
            continue
        digits = text[position : position + 4]
        if len(digits) != 4 or not set(digits) <= set("0123456789abcdefABCDEF"):
            raise PropertiesError(f"Malformed \\uxxxx encoding in line {number}: \\u{digits}")
        parts.append(chr(int(digits, 16)))
        position += 4
    # A character outside of the basic plane is written as two escapes, a surrogate pair.
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
