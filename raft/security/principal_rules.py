r"""ssl.principal.mapping.rules: from the name in a certificate to the name of a principal (KIP-371).

Patterns have Java's meaning, in which `\w`, `\d` and `(?i)` are ASCII: a letter of another script that looks like one
of ASCII, or has it as its lower case, must not give another principal's name.
"""

from __future__ import annotations

import re

from records.java.config_error import ConfigError
from records.java.java_matching import Program, Steps, TooManySteps
from records.java.java_regex import PatternError, compile_java
from records.java.java_replacing import replace_matches
from records.java.java_values import java_trim

KEY = "ssl.principal.mapping.rules"
# Of all rules for one name, some 20 ms: a client chooses its subject, and the loop waits. The six groups of Kafka's own
# example take at most 20 for each character of a subject.
STEPS_MAX = 40_000

_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLIT = re.compile(rf"\s*({_RULE})\s*(,\s*|$)", re.ASCII)
_REFERENCE = re.compile(r"\$(\d+)", re.ASCII)


class PrincipalRules:
    """The rules in order; the first whose pattern matches the whole name counts."""

    def __init__(self, text: str) -> None:
        """Raises ConfigError."""
        self._rules: list[tuple[Program, str, str] | None] = []  # pattern, replacement, L or U; None: DEFAULT
        for match in _SPLIT.finditer(java_trim(text)):
            rule = match[1]
            parsed = re.match(_RULE, rule)
            if not rule:
                continue
            if parsed is None or parsed.end() != len(rule):
                raise ConfigError(f"{KEY}: Invalid rule: {rule}")
            if parsed[1] is not None:
                self._rules.append(None)
                continue
            try:
                program = compile_java(parsed[2])
            except PatternError as error:
                raise ConfigError(f"{KEY}: Invalid rule: {rule}: {error}") from None
            self._rules.append((program, _escape(parsed[3], program.groups), parsed[4]))

    def name_of(self, distinguished: str) -> str:
        """The principal's name. Raises ValueError when no rule applies, or takes too many steps."""
        steps = Steps(STEPS_MAX)
        try:
            return self._name_of(distinguished, steps)
        except TooManySteps:
            raise ValueError(
                f"the {len(distinguished)} characters of its subject take too long to match with {KEY}"
            ) from None

    def _name_of(self, distinguished: str, steps: Steps) -> str:
        for rule in self._rules:
            if rule is None:
                return distinguished
            program, replacement, case = rule
            if program.match_all(distinguished, steps) is None:
                continue
            name = replace_matches(program, distinguished, replacement, steps)
            return name.lower() if case == "L" else name.upper() if case == "U" else name
        raise ValueError(f"no rule of {KEY} applies to its certificate")


def _escape(replacement: str, groups: int) -> str:
    r"""The replacement with references to missing groups as literal text, as stock makes it: `$4` becomes `\$4`.

    Stock inserts each backslash at its place in the original text. So the second one and those after it stand too
    early, and such a replacement gives another name, or none; so it does here.
    """
    if not groups:
        return replacement
    text = replacement
    for match in _REFERENCE.finditer(replacement):
        number = int(match[1])
        if match[1].startswith("0"):
            continue
        while number > groups and number >= 10:
            number //= 10
        if number > groups:
            text = f"{text[: match.start()]}\\{text[match.start() :]}"
    return text
