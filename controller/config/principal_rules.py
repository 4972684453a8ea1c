"""ssl.principal.mapping.rules: from the name in a certificate to the name of a principal (KIP-371)."""

from __future__ import annotations

import re

from controller.config.values.definition import ConfigError

KEY = "ssl.principal.mapping.rules"
_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLIT = re.compile(rf"\s*({_RULE})\s*(,\s*|$)")
_REFERENCE = re.compile(r"\$(\d+)")


class PrincipalRules:
    """The rules in order; the first whose pattern matches the whole name counts."""

    def __init__(self, text: str) -> None:
        """Raises ConfigError."""
        self._rules: list[tuple[re.Pattern[str], str, str] | None] = []  # pattern, replacement, L or U; None: DEFAULT
        for match in _SPLIT.finditer(text.strip()):
            rule = match[1]
            parsed = re.fullmatch(_RULE, rule)
            if not rule:
                continue
            if parsed is None or (parsed[1] is None and parsed[2] is None):
                raise ConfigError(f"{KEY}: Invalid rule: {rule}")
            if parsed[1] is not None:
                self._rules.append(None)
                continue
            try:
                pattern = re.compile(parsed[2])
                self._rules.append((pattern, parsed[3], parsed[4]))
                template(parsed[3], pattern.groups)
            except re.error as error:
                raise ConfigError(f"{KEY}: Invalid rule: {rule}: {error}") from None

    def name_of(self, distinguished: str) -> str:
        """The principal's name. Raises ValueError when no rule applies."""
        for rule in self._rules:
            if rule is None:
                return distinguished
            pattern, replacement, case = rule
            if pattern.fullmatch(distinguished) is None:
                continue
            name = pattern.sub(template(replacement, pattern.groups), distinguished)
            return name.lower() if case == "L" else name.upper() if case == "U" else name
        raise ValueError(f"no rule of {KEY} applies to its certificate")


def template(replacement: str, groups: int) -> str:
    """Java's replacement text in Python's syntax; a reference to a missing group is literal text."""

    def reference(match: re.Match[str]) -> str:
        digits = match[1]
        rest = ""
        while int(digits) > groups and len(digits) > 1:
            digits, rest = digits[:-1], digits[-1] + rest
        if int(digits) > groups:
            return "$" + digits + rest
        return rf"\g<{int(digits)}>{rest}"

    text = re.sub(r"\\(?!\$)", lambda _: "\\\\", replacement)
    return _REFERENCE.sub(reference, text) if groups else text
