r"""The characters that a regular expression of Java names: `.`, classes, `\p{…}`, ASCII unless it asks for more."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

Test = Callable[[str], bool]

TERMINATORS = frozenset("\n\r\x85\u2028\u2029")
_HORIZONTAL = frozenset(" \t\xa0\u1680\u180e\u202f\u205f\u3000") | {chr(code) for code in range(0x2000, 0x200B)}
_VERTICAL = frozenset("\n\v\f\r\x85\u2028\u2029")
_LOWER, _UPPER = frozenset(map(chr, range(97, 123))), frozenset(map(chr, range(65, 91)))
_DIGITS = frozenset("0123456789")
_ALNUM = _LOWER | _UPPER | _DIGITS
WORD = _ALNUM | {"_"}
_PUNCT = frozenset(r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~""")

ESCAPES: dict[str, frozenset[str]] = {
    "d": _DIGITS, "w": WORD, "s": frozenset(" \t\n\v\f\r"), "h": _HORIZONTAL, "v": _VERTICAL,
}  # fmt: skip
_PROPERTIES = {
    "Lower": _LOWER, "Upper": _UPPER, "ASCII": frozenset(map(chr, range(128))), "Alpha": _LOWER | _UPPER,
    "Digit": _DIGITS, "Alnum": _ALNUM, "Punct": _PUNCT, "Graph": _ALNUM | _PUNCT, "Print": _ALNUM | _PUNCT | {" "},
    "Blank": frozenset(" \t"), "Cntrl": frozenset(map(chr, [*range(32), 127])), "Space": ESCAPES["s"],
    "XDigit": frozenset("0123456789abcdefABCDEF"),
}  # fmt: skip
_CATEGORIES = {
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cs", "Cn",
    "Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf", "L", "M", "N", "Z", "C", "P", "S",
}  # fmt: skip


def property_of(name: str, *, any_case: bool) -> Test | None:
    r"""The characters of `\p{name}`; None for a property that is not known here, such as a script.

    any_case: (?i), with which a case of letters stands for every case.
    """
    if any_case and name in {"Lower", "Upper"}:
        return _PROPERTIES["Alpha"].__contains__
    if any_case and name.removeprefix("gc=").removeprefix("Is") in {"Lu", "Ll", "Lt"}:
        return lambda char: unicodedata.category(char) in {"Lu", "Ll", "Lt"}
    if name.startswith(("gc=", "general_category=")):
        return _category(name.partition("=")[2])
    if name in _PROPERTIES:
        return _PROPERTIES[name].__contains__
    if name in {"IsAlphabetic", "IsLetter"}:
        return str.isalpha
    if name == "IsDigit":
        return _category("Nd")
    return _category(name.removeprefix("Is"))


def _category(name: str) -> Test | None:
    return (lambda char: unicodedata.category(char).startswith(name)) if name in _CATEGORIES else None


def swap_case(char: str) -> str:
    """A letter of ASCII in the other case; any other character unchanged."""
    return char.swapcase() if char in _LOWER or char in _UPPER else char


def fold_case(char: str) -> str:
    """A character as Java compares it with UNICODE_CASE."""
    return _single(_single(char.upper(), char).lower(), char)


def literal(char: str, *, any_case: bool, in_unicode: bool) -> Test:
    """The test of one character. any_case: (?i); in_unicode: (?u), without which only ASCII has cases."""
    if not any_case:
        return char.__eq__
    if in_unicode:
        same = fold_case(char)
        return lambda character: fold_case(character) == same
    return frozenset((char, swap_case(char))).__contains__


def between(first: str, last: str, *, any_case: bool, in_unicode: bool) -> Test:
    """The test of a range of a class."""
    if not any_case:
        return lambda char: first <= char <= last
    if in_unicode:
        return lambda char: any(first <= each <= last for each in (char, _single(char.upper(), char), fold_case(char)))
    return lambda char: first <= char <= last or first <= swap_case(char) <= last


def _single(changed: str, char: str) -> str:
    """Java's cases of one character are of one character: ß has no other."""
    return changed if len(changed) == 1 else char
