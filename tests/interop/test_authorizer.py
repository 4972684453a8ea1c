"""StandardAuthorizer: ours, the simulation's model and stock's class decide alike, on random sets of ACLs and random
questions.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from controller.interface.access import Action
from controller.interface.inputs import Principal
from controller.rules.authorizer import StandardAuthorizer
from controller.state.tables.acl import Acl, AclOperation, AclResourceType
from controller.state.tables.acl_index import AclIndex
from records.errors import ApiError
from simulations.secured.rights import Question, Rule, is_allowed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.stock import Stock

SOURCE = Path(__file__).parent / "tools" / "AuthorizerCalls.java"

SETS = 100_000
SETS_AT_A_TIME = 1_000
QUESTIONS = 8
ACLS_MAX = 14

# Names that are prefixes of each other, that share beginnings, and that look like the wildcard. None begins with a
# character before "*": there stock's search leaves its own string (StringIndexOutOfBoundsException).
NAMES = ("a", "aa", "aab", "ab", "abc", "abcd", "abd", "b", "ba", "*", "*a", "**", "kafka-cluster", "z", "ä", "中")
TYPES = (2, 3, 4, 5, 6, 7)
USERS = ("ann", "bob", "*", "a:b", "ANONYMOUS")
KINDS = ("User", "User", "User", "Role")
HOSTS = ("127.0.0.1", "10.0.0.1", "0:0:0:0:0:0:0:1")
SUPER = ("", "User:root", "User:root;User:ann", " User:bob ; Role:ann")


def random_acl(rng: Random) -> list[Any]:
    return [
        rng.choice(TYPES[:3]),
        rng.choice(NAMES),
        rng.choice((3, 3, 4)),
        f"{rng.choice(KINDS)}:{rng.choice(USERS)}",
        rng.choice(("*", *HOSTS)),
        rng.choice((2, *range(2, 16))),
        rng.choice((2, 3, 3, 3)),
    ]


def random_question(rng: Random) -> list[Any]:
    return [
        rng.choice(KINDS),
        rng.choice((*USERS, "root")),
        rng.choice(HOSTS),
        rng.randrange(3, 16),
        rng.choice(TYPES[:3]),
        rng.choice((*NAMES, "abcde", "ac", "*b", "x")),
    ]


def random_case(rng: Random) -> dict[str, Any]:
    return {
        "superUsers": rng.choice(SUPER),
        "allow": rng.choice(("true", "false")),
        # No ACL twice: stock refuses that.
        "acls": [list(acl) for acl in {tuple(random_acl(rng)): None for _ in range(rng.randrange(ACLS_MAX))}],
        "questions": [random_question(rng) for _ in range(QUESTIONS)],
    }


def ours(case: dict[str, Any]) -> Iterator[str]:
    users = [user.strip() for user in case["superUsers"].split(";") if user.strip()]
    authorizer = StandardAuthorizer(users, allows_without_acls=case["allow"] == "true")
    index = AclIndex()
    for number, acl in enumerate(case["acls"]):
        index.put_all([(number.to_bytes(2), Acl(*acl))])
    for kind, name, host, operation, resource_type, resource in case["questions"]:
        what = AclOperation(operation), AclResourceType(resource_type), resource
        asked = Action(Principal(kind, name), host, "CONTROLLER", 19, *what)
        try:
            yield "A" if authorizer.decide(asked, index).allowed else "D"
        except ApiError:
            yield "E"


def modelled(case: dict[str, Any]) -> Iterator[str]:
    """The same by the model of the simulation, in which every super user is a User."""
    users = [user.strip() for user in case["superUsers"].split(";") if user.strip()]
    names = frozenset(user.removeprefix("User:") for user in users if user.startswith("User:"))
    rules = [Rule(*acl) for acl in case["acls"]]
    for kind, name, host, operation, resource_type, resource in case["questions"]:
        asked = Question(f"{kind}:{name}", host, operation, resource_type, resource)
        if f"{kind}:{name}" == "User:*":
            yield "E"
        else:
            may = asked.principal in users or is_allowed(asked, rules, names, by_default=case["allow"] == "true")
            yield "A" if may else "D"


def test_stocks_class_makes_the_same_decisions_on_100_000_random_sets_of_acls(stock: Stock) -> None:
    rng = Random(14)
    command = stock.java(str(SOURCE), heap="-Xmx512m -XX:+UseSerialGC", level="OFF", target="SYSTEM_ERR")
    differences: list[Any] = []
    misjudged: list[Any] = []
    counts = {"A": 0, "D": 0, "E": 0}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as java:
        assert java.stdin is not None
        assert java.stdout is not None
        for _ in range(SETS // SETS_AT_A_TIME):
            cases = [random_case(rng) for _ in range(SETS_AT_A_TIME)]
            java.stdin.write(json.dumps(cases) + "\n")
            java.stdin.flush()
            mine = [list(ours(case)) for case in cases]
            theirs = java.stdout.readline().strip()
            assert len(theirs) == SETS_AT_A_TIME * QUESTIONS
            for number, case in enumerate(cases):
                for place, answer in enumerate(mine[number]):
                    counts[answer] += 1
                    stock_answer = theirs[number * QUESTIONS + place]
                    if answer != stock_answer:
                        differences.append((case, case["questions"][place], answer, stock_answer))
                judged = "".join(modelled(case))
                if judged != theirs[number * QUESTIONS : (number + 1) * QUESTIONS]:
                    misjudged.append((case, judged))
        java.stdin.close()

    assert differences[:3] == []
    assert misjudged[:3] == []
    # Neither answer is rare: the questions do test something.
    assert min(counts["A"], counts["D"]) > SETS
