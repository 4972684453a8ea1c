"""sasl.kerberos.principal.to.local.rules: from the name of a Kerberos principal to that of a principal of Kafka."""

from __future__ import annotations

import re

from controller.config.principal_rules import template
from controller.config.values.definition import ConfigError

KEY = "sasl.kerberos.principal.to.local.rules"
_RULE = re.compile(
    r"(DEFAULT)|RULE:\[([0-9]+):([^\]]*)\](?:\(([^)]*)\))?(?:s/([^/]*)/([^/]*)/(g)?)?/?(L|U)?",
)
_NAME = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")
_PARAMETER = re.compile(r"\$([0-9]*)")


class KerberosRules:
    """The rules in order; the first that gives a name counts. default_realm: that of DEFAULT."""

    def __init__(self, texts: tuple[str, ...], default_realm: str) -> None:
        """Raises ConfigError."""
        self._default_realm = default_realm
        self._rules = [_parsed(text) for text in texts or ("DEFAULT",)]

    def name_of(self, principal: str) -> str:
        """The name of a principal. Raises ValueError when no rule gives one."""
        match = _NAME.fullmatch(principal)
        if match is None:
            if "@" in principal or "/" in principal:
                raise ValueError(f"{principal[:200]!r} is no name of Kerberos")
            return principal
        parts = [match[3], match[1], *([] if match[2] is None else [match[2]])]
        for rule in self._rules:
            found = self._applied(rule, parts)
            if found is not None:
                return found
        raise ValueError(f"no rule of {KEY} applies to {principal[:200]!r}")

    def _applied(self, rule: re.Match[str], parts: list[str]) -> str | None:
        if rule[1]:
            found: str | None = parts[1] if parts[0] == self._default_realm else None
        else:
            found = _replaced(rule, parts)
        if found is not None and re.search("[/@]", found):
            raise ValueError(f"a rule of {KEY} gives {found[:200]!r}, which is not simple")
        if found is None or not rule[8]:
            return found
        return found.lower() if rule[8] == "L" else found.upper()


def _replaced(rule: re.Match[str], parts: list[str]) -> str | None:
    if len(parts) - 1 != int(rule[2]):
        return None
    base = _PARAMETER.sub(lambda match: parts[int(match[1])], rule[3])
    if rule[4] is not None and re.fullmatch(rule[4], base) is None:
        return None
    if rule[5] is None:
        return base
    pattern = re.compile(rule[5])
    return pattern.sub(template(rule[6], pattern.groups), base, count=0 if rule[7] else 1)


def _parsed(text: str) -> re.Match[str]:
    """Raises ConfigError."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise ConfigError(f"{KEY}: Invalid rule: {text}")
    if match[1]:
        return match
    try:
        for pattern in (match[4], match[5]):
            re.compile(pattern or "")
        if match[5] is not None:
            template(match[6], re.compile(match[5]).groups)
        count = int(match[2])
        if not all(number and int(number) <= count for number in _PARAMETER.findall(match[3])):
            raise ValueError(f"a parameter of [{match[2]}:{match[3]}] is outside of 0 to {count}")
    except (re.error, ValueError) as error:
        raise ConfigError(f"{KEY}: Invalid rule: {text}: {error}") from None
    return match
