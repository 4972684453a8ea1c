"""sasl.kerberos.principal.to.local.rules: from the name of a Kerberos principal to that of a principal of Kafka."""

from __future__ import annotations

import re
from typing import NamedTuple

from raft.security.principal_rules import STEPS_MAX
from records.java.config_error import ConfigError
from records.java.java_matching import Program, Steps, TooManySteps
from records.java.java_regex import compile_java
from records.java.java_replacing import replace_matches

KEY = "sasl.kerberos.principal.to.local.rules"
_RULE = re.compile(r"(DEFAULT)|RULE:\[([0-9]+):([^\]]*)\](?:\(([^)]*)\))?(?:s/([^/]*)/([^/]*)/(g)?)?/?(L|U)?")
_NOT_SIMPLE = frozenset("/@")
_NAME = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")
_PARAMETER = re.compile(r"\$([0-9]*)")


class _Rule(NamedTuple):
    """One rule. components: how many a name must have; base: made of them; match: that the base must match as a whole;
    replaced, replacement: the substitution, of all matches if is_repeated; case: L or U for the case of the result.
    """

    components: int
    base: str
    match: Program | None
    replaced: Program | None
    replacement: str
    is_repeated: bool
    case: str


class KerberosRules:
    """The rules in order; the first that gives a name counts. default_realm: that of DEFAULT."""

    def __init__(self, texts: tuple[str, ...], default_realm: str) -> None:
        """Raises ConfigError."""
        self._default_realm = default_realm
        self._rules = [_parse(text) for text in texts or ("DEFAULT",)]

    def name_of(self, principal: str) -> str:
        """The name of a principal. Raises ValueError when no rule gives one, or they take too many steps."""
        try:
            return self._name_of(principal, Steps(STEPS_MAX))
        except TooManySteps:
            raise ValueError(f"the {len(principal)} characters of it take too long to match with {KEY}") from None

    def _name_of(self, principal: str, steps: Steps) -> str:
        match = _NAME.fullmatch(principal)
        if match is None:
            if "@" in principal or "/" in principal:
                raise ValueError(f"{principal[:200]!r} is no name of Kerberos")
            return principal
        parts = [match[3], match[1], *([] if match[2] is None else [match[2]])]
        for rule in self._rules:
            name = self._apply(rule, parts, steps)
            if name is not None:
                return name
        raise ValueError(f"no rule of {KEY} applies to {principal[:200]!r}")

    def _apply(self, rule: _Rule | None, parts: list[str], steps: Steps) -> str | None:
        if rule is None:
            name = parts[1] if parts[0] == self._default_realm else None
        else:
            name = _replace(rule, parts, steps)
        if name is not None and not _NOT_SIMPLE.isdisjoint(name):
            raise ValueError(f"a rule of {KEY} gives {name[:200]!r}, which is not simple")
        if name is None or rule is None or not rule.case:
            return name
        return name.lower() if rule.case == "L" else name.upper()


def _replace(rule: _Rule, parts: list[str], steps: Steps) -> str | None:
    if len(parts) - 1 != rule.components:
        return None
    base = _PARAMETER.sub(lambda match: parts[int(match[1])], rule.base)
    if rule.match is not None and rule.match.match_all(base, steps) is None:
        return None
    if rule.replaced is None:
        return base
    return replace_matches(rule.replaced, base, rule.replacement, steps, is_first_only=not rule.is_repeated)


def _parse(text: str) -> _Rule | None:
    """None for DEFAULT. Raises ConfigError."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise ConfigError(f"{KEY}: Invalid rule: {text}")
    if match[1]:
        return None
    try:
        count = int(match[2])
        if not all(number and int(number) <= count for number in _PARAMETER.findall(match[3])):
            raise ValueError(f"a parameter of [{match[2]}:{match[3]}] is outside of 0 to {count}")
        whole, part = (None if each is None else compile_java(each) for each in (match[4], match[5]))
        return _Rule(count, match[3], whole, part, match[6] or "", bool(match[7]), match[8] or "")
    except ValueError as error:
        raise ConfigError(f"{KEY}: Invalid rule: {text}: {error}") from None
