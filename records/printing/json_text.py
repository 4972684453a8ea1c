"""JSON text in the form of Jackson, with which Kafka prints: compact, UTF-8 unescaped, doubles in Java's form."""

from __future__ import annotations

from math import isfinite, isnan

from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, NoReturn

_ESCAPES = {code: f"\\u{code:04X}" for code in range(32)}
_ESCAPES.update({8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"})


def json_text(tree: Any) -> str:
    """The text of a tree of dicts, lists, strings, numbers, booleans and None, without a space or a line break."""
    kind = type(tree)
    if kind is dict:
        return "{" + ",".join([f"{_string(key)}:{json_text(value)}" for key, value in tree.items()]) + "}"
    if kind is list or kind is tuple:
        return "[" + ",".join([json_text(item) for item in tree]) + "]"
    if kind is str:
        return _string(tree)
    if tree is None:
        return "null"
    if kind is bool:
        return "true" if tree else "false"
    if kind is float:
        return double_text(tree)
    return int.__repr__(tree)  # of an error code too, whose own repr is its name


def read_json(text: str) -> Any:
    """The tree of a JSON text; raises ValueError, with the position of the error."""
    import json

    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("JSON is nested too deep") from None


def double_text(value: float) -> str:
    """A double as Java writes it: the fewest digits that identify it, at least one after the point.

    From 10^-3 up to 10^7 it is written out, else as 1.0E7; NaN and infinities are quoted, as by Jackson.
    """
    if not isfinite(value):
        return '"NaN"' if isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits = repr(abs(value)).partition("e")[0].replace(".", "").strip("0")
    exponent = int(f"{value:.17e}".partition("e")[2])
    if len(digits) == 1:
        # Java writes two digits at least, and so may choose the nearer ones: the smallest double of all is 4.9E-324.
        mantissa, _, exponent_text = f"{abs(value):.1e}".partition("e")
        digits, exponent = mantissa.replace(".", ""), int(exponent_text)
    return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1:]}E{exponent}"


def _string(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{text.translate(_ESCAPES)}"'


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
