"""Principals of certificates and of Kerberos: ours and stock's classes make the same of generated rules and names."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from controller.config.security.kerberos_rules import KerberosRules
from raft.security.principal_rules import PrincipalRules
from records.java.config_error import ConfigError

if TYPE_CHECKING:
    from tests.interop.stock import Stock

SOURCE = Path(__file__).parent / "tools" / "PrincipalCalls.java"
# Of this seed: with others Java now and then takes minutes for one pattern, or keeps a group of an attempt that failed.
SEED, CASES, CASES_AT_A_TIME, NAMES = 9, 9_000, 1_000, 6

# Letters that Unicode calls equal to an ASCII letter or digit in another case or script, and ends of lines. Stock's
# replacement tears a character above U+FFFF in two halves where its pattern matches nothing; ours does not.
CHARACTERS = "aabkKsSCNOU019=,. @-_\u212a\u017f\u0131\u0661\u00e9\u00df\u00a0\u2028\n\r\t\u0410"
ATOMS = (
    "a", "k", "S", "=", ",", "0", "_", ".", ".", r"\w", r"\d", r"\s", r"\W", r"\D", r"\S", r"\h", r"\v", r"\R", r"\.",
    r"\/", "[a-k]", "[^,]", "[^=,]", r"[\w.]", r"[^\s@]", "[a-z&&[^k]]", "[0-9[A-Z]]", r"\p{Alpha}", r"\P{L}",
    r"\p{Lu}", r"\p{Punct}",     r"\x41", r"\u212a", r"\Qa.b\E", "\u212a", "\u017f", "CN=", "OU=",
)  # fmt: skip
REPEATS = ("", "", "", "", "*", "+", "?", "*?", "+?", "??", "{1,3}", "{2}", "*+", "{0,2}?")
EXAMPLES = (
    r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
    r"RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L",
    r"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U", r"RULE:^CN=(\w+).*$/$1/L",
    r"RULE:^(?i)cn=(kafka).*$/kafka/", "DEFAULT",
)  # fmt: skip


def pattern(rng: Random, depth: int = 0, *, repeats: bool = True, captures: bool = True) -> str:
    """repeats: whether its parts may be repeated: within a group that is repeated Java takes exponential time.
    captures: whether it may have groups: Java keeps those of a look-ahead that must not match.
    """
    parts = []
    for _ in range(rng.randrange(1, 5 - depth)):
        kind = rng.random()
        if kind < 0.25 and depth < 2:
            opening = rng.choice(("(?:", "(?i:", "(?=", "(?!", "(?>", *("(", "(", "(", "(?<n>") * captures))
            repeat = rng.choice(REPEATS) if repeats else ""
            keeps = captures and "!" not in opening
            inner = pattern(rng, depth + 1, repeats=repeats and not (repeat and depth >= 0), captures=keeps)
            parts.append(f"{opening}{inner}){repeat}")
        elif kind < 0.3:
            parts.append(
                rng.choice(("^", "$", r"\Z", r"\z", "(?i)", "(?s)", "(?m)", "(?iu)", r"\1", "(?<!a.)", "(?<=k|)"))
            )
        else:
            parts.append(rng.choice(ATOMS) + (rng.choice(REPEATS) if repeats else ""))
    return "".join(parts) if rng.random() < 0.85 else "".join(parts) + "|" + rng.choice(ATOMS)


def replacement(rng: Random) -> str:
    return "".join(
        rng.choice(("$1", "$2", "$0", "$10", "$4", "a", "K", "@", r"\$", "${n}", "", "\u017f"))
        for _ in range(rng.randrange(4))
    )


def rule(rng: Random) -> str:
    if rng.random() < 0.2:
        return rng.choice(EXAMPLES)
    return f"RULE:{pattern(rng)}/{replacement(rng)}/{rng.choice(('', '', 'L', 'U', 'x'))}"


def name(rng: Random) -> str:
    if rng.random() < 0.3:
        return f"CN={word(rng)},OU={rng.choice(('ServiceUsers', word(rng)))},O={word(rng)},L=x,ST=y,C=z"
    return word(rng, 12)


def word(rng: Random, size: int = 5) -> str:
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(size)))


def kerberos_rule(rng: Random) -> str:
    match = pattern(rng).replace(")", "").replace("(", "").replace("?:", "")
    base = rng.choice(("1:$1", "2:$1.$2", "2:$1@$0", "1:$1@$0", "2:$2"))
    changed = f"s/{pattern(rng).replace('/', '.')}/{replacement(rng)}/{rng.choice(('', 'g'))}"
    return (
        f"RULE:[{base}]"
        + rng.choice(("", f"({match})", "(.*@EXAMPLE.ORG)", r"(\w+)"))
        + rng.choice(("", changed, "s/@.*//"))
        + rng.choice(("", "/L", "/U"))
    )


def kerberos_name(rng: Random) -> str:
    host = rng.choice(("", "/" + (word(rng).replace("@", "") or "h").replace("\n", "")))
    first = (word(rng).replace("@", "") or "kafka").replace("\n", "")
    return f"{first}{host}@{rng.choice(('EXAMPLE.ORG', 'OTHER.ORG'))}"


def case(rng: Random) -> list[Any]:
    if rng.random() < 0.7:
        rules: Any = rng.choice((",", ", ", " , ")).join(rule(rng) for _ in range(rng.randrange(1, 4)))
        return ["ssl", rules, [name(rng) for _ in range(NAMES)]]
    if rng.random() < 0.3:  # repetitions within repetitions, with names so short that Java can do them
        return ["ssl", f"RULE:{pattern(rng, -1)}/{replacement(rng)}/", [word(rng, 7) for _ in range(NAMES)]]
    rules = [rng.choice((kerberos_rule(rng), kerberos_rule(rng), "DEFAULT")) for _ in range(rng.randrange(1, 3))]
    return ["kerberos", rules, [kerberos_name(rng) for _ in range(NAMES)]]


def ours(kind: str, rules: Any, names: list[str]) -> list[str | None] | None:
    try:
        made = PrincipalRules(rules) if kind == "ssl" else KerberosRules(tuple(rules), "EXAMPLE.ORG")
    except ConfigError:
        return None
    found: list[str | None] = []
    for each in names:
        try:
            found.append(made.name_of(each))
        except ValueError:
            found.append(None)
    return found


def test_stocks_classes_make_the_same_principals_of_9_000_generated_rules(stock: Stock) -> None:
    rng = Random(SEED)
    command = stock.java(str(SOURCE), heap="-Xmx512m -XX:+UseSerialGC ", level="OFF", target="SYSTEM_ERR")
    differences: list[Any] = []
    refused = mapped = unmapped = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as java:
        assert java.stdin is not None
        assert java.stdout is not None
        for _ in range(CASES // CASES_AT_A_TIME):
            cases = [case(rng) for _ in range(CASES_AT_A_TIME)]
            java.stdin.write(json.dumps(cases) + "\n")
            java.stdin.flush()
            mine = [ours(*each) for each in cases]
            for each, here, there in zip(cases, mine, json.loads(java.stdout.readline()), strict=True):
                refused += there is None
                mapped += sum(one is not None for one in there or ())
                unmapped += sum(one is None for one in there or ())
                if here != there:
                    differences.append((each, here, there))
        java.stdin.close()

    assert differences[:3] == []
    # None of the outcomes is rare: the rules do test something.
    assert min(refused, mapped // 10, unmapped // 10) > CASES // 100
