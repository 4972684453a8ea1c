"""JAAS text: the login modules of a `sasl.jaas.config`, with their options, as Kafka reads it."""

from __future__ import annotations

import re

from records.java.config_error import ConfigError

FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")

# As Java's StreamTokenizer has it with Kafka's settings: a single slash begins a comment, too. The patterns are
# compiled at their first use (`re` keeps them): that takes 7 ms, and a node without SASL has no such text.
_SKIPPED = r"(?s:[\0- ]|/\*.*?(?:\*/|\Z)|/[^\n\r]*)+"
_WORD = r"[A-Za-z_$\u00a0-\U0010ffff][A-Za-z0-9._$\-\u00a0-\U0010ffff]*"
_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_ESCAPE = r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|(?s:.))"
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Module:
    """One login module. Its options hold secrets, so it is never printed whole."""

    __slots__ = ("name", "options")

    def __init__(self, name: str, options: dict[str, str]) -> None:
        self.name = name
        self.options = options

    def __repr__(self) -> str:
        return f"Module({self.name})"


class Token:
    """One token of JAAS text. line: its first is 1."""

    __slots__ = ("kind", "line", "text")

    def __init__(self, kind: str, text: str | None, line: int) -> None:
        self.line = line
        self.kind = kind  # "word" for a word or a quoted text, "number", or the character itself
        self.text = text


def parse_jaas(text: str, key: str) -> list[Module]:
    """The modules. Raises ConfigError, which names the key and holds no value."""
    tokens = tokens_of(text)
    modules = []
    at = 0
    while at < len(tokens):
        name = tokens[at].text
        if at + 1 >= len(tokens):
            raise ConfigError(f"{key}: Login module control flag not specified in JAAS config")
        flag = tokens[at + 1].text
        if flag is None:
            raise ConfigError(f"{key}: Login module control flag is not available in the JAAS config")
        if flag.upper() not in FLAGS:
            raise ConfigError(f"{key}: Invalid login module control flag in JAAS config; one of {', '.join(FLAGS)}")
        at += 2
        options: dict[str, str] = {}
        while at < len(tokens) and tokens[at].kind != ";":
            option = tokens[at].text
            value = tokens[at + 2].text if at + 2 < len(tokens) and tokens[at + 1].kind == "=" else None
            if value is None or option is None:
                # What stands there may be part of a password without quotes: it is not shown.
                raise ConfigError(f"{key}: Value not specified for option {len(options) + 1} in JAAS config")
            options[option] = value
            at += 3
        if at >= len(tokens):
            raise ConfigError(f"{key}: JAAS config entry not terminated by semi-colon")
        at += 1
        modules.append(Module(name or "", options))
    if not modules:
        raise ConfigError(f"{key}: Login module not specified in JAAS config")
    return modules


def tokens_of(text: str) -> list[Token]:
    """The tokens, as Java's StreamTokenizer finds them with Kafka's settings."""
    tokens: list[Token] = []
    lines = 1
    counted = 0
    at = 0
    while at < len(text):
        lines += text.count("\n", counted, at)
        counted = at
        for pattern, kind in ((_SKIPPED, None), (_WORD, "word"), (_NUMBER, "number")):
            match = re.compile(pattern).match(text, at)
            if match is not None:
                at = match.end()
                if kind is not None:
                    tokens.append(Token(kind, match[0] if kind == "word" else None, lines))
                break
        else:
            if text[at] in "\"'":
                value, at = _read_quoted(text, at)
                tokens.append(Token("word", value, lines))
            else:
                tokens.append(Token(text[at], None, lines))
                at += 1
    return tokens


def _read_quoted(text: str, at: int) -> tuple[str, int]:
    """The text between quotes, and where it ends; the end of a line ends it, too."""
    quote = text[at]
    parts = []
    at += 1
    while at < len(text) and text[at] not in (quote, "\n", "\r"):
        if text[at] == "\\":
            match = re.compile(_ESCAPE).match(text, at)
            if match is None:
                break
            parts.append(chr(int(match[1], 8)) if match[1][0] in "01234567" else _ESCAPED.get(match[1], match[1]))
            at = match.end()
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts), at + 1 if at < len(text) and text[at] == quote else at
