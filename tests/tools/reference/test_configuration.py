"""The page of configuration keys is current, and says of each key what the code does with it."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

from controller.config.keys import own, server
from tools.reference import configuration as reference
from tools.reference import configuration_effects as effects

ROOT = Path(__file__).parents[3]

# Modules that name keys of a node to check them, to map variables to keys, or in records of brokers.
ONLY_NAMED = (
    "controller/config/keys/", "controller/config/group_checks.py", "controller/config/node_checks.py",
    "controller/config/dynamic.py", "controller/handlers/config_changes.py", "tools/reference/",
)  # fmt: skip


def keys_in_code() -> set[str]:
    """The keys that modules name, whole or by a pattern such as `ssl.{store}.type`; of patterns, those of stock's keys
    that have a fixed part before and after.
    """
    names: set[str] = set()
    patterns: set[str] = set()
    for package in ("controller", "raft", "tools"):
        for path in (ROOT / package).rglob("*.py"):
            if path.relative_to(ROOT).as_posix().startswith(ONLY_NAMED):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "*" for part in node.values]
                    patterns.add("".join(str(part) for part in parts))
                elif isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
                    for begin in ("controller.quorum.", "sasl.oauthbearer.jwks.endpoint.retry.backoff."):
                        patterns.add(begin + str(node.right.value))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    names.add(node.value)
    shaped = [
        pattern for pattern in patterns if re.fullmatch(r"[a-z.]+(\*[a-z.]+)?|\*\.(tls|token|allow)[a-z.]*", pattern)
    ]
    known = {key.name for key in (*server.KEYS, *own.KEYS)}
    return {key for key in known if key in names or any(fnmatchcase(key, pattern) for pattern in shaped)}


def test_the_page_is_what_the_tables_say() -> None:
    assert reference.FILE.read_text("utf-8") == reference.page(), "run make docs"


def test_each_key_stands_on_the_page_once() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", reference.page(), re.MULTILINE)

    assert sorted(rows) == sorted(
        key
        for keys in (server.KEYS, server.BROKER_QUOTA_KEYS, own.KEYS, effects.OF_THE_AUTHORIZER)
        for key in keys_of(keys)
    )


def keys_of(keys: object) -> list[str]:
    return [key if isinstance(key, str) else key.name for key in keys]  # type: ignore[attr-defined]


def test_each_of_our_own_keys_is_described() -> None:
    assert list(effects.OWN_TEXTS) == [key.name for key in own.KEYS]


def test_the_keys_that_the_page_says_are_used_are_those_that_the_code_reads() -> None:
    stock = {key.name for key in server.KEYS}

    assert keys_in_code() & stock == effects.IN_USE | set(effects.REFUSED)


def test_html_of_a_text_cannot_end_a_row_of_the_table() -> None:
    assert reference._escape("a\n<code>x|y</code> <script>") == "a `x\\|y` &lt;script>"
