"""Stock's kafka-acls, kafka-configs, kafka-topics and kafka-delegation-tokens print and exit alike with stock
controllers and ours; and so do our own.

Two secured clusters of one controller and one stock broker. Each command runs on both; what is random or of the moment
(ids, HMACs, dates, ports) is replaced, and lists whose order is that of a Java map of random keys are sorted.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.interop.cluster import OURS, STOCK
from tests.interop.secured import ADMIN, ANN, secured
from tests.interop.stock import Stock
from tests.interop.tools.stock_calls import StockCalls
from tests.raft.network.certificates import needs_openssl
from tests.tools.kafka.cases import acls_in_order
from tests.tools.kafka.cases import ours as ours_says
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.secured import Secured

pytestmark = needs_openssl
SETTINGS = {"delegation.token.secret.key": "a key", "delegation.token.max.lifetime.ms": "600000000"}


class Pair(NamedTuple):
    stock: Secured
    ours: Secured
    calls: StockCalls


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    root = tmp_path_factory.mktemp("tools")
    # Ours print what those of 4.4.0 print.
    tools = stock if stock.version == "4.4.0" else Stock("4.4.0")
    tools.bring()
    for kind in (STOCK, OURS):
        (root / kind).mkdir()
    with (
        secured(root / STOCK, stock, [STOCK], settings=SETTINGS, controllers_by=STOCK) as theirs,
        secured(root / OURS, stock, [OURS], settings=SETTINGS) as ours,
        StockCalls(tools) as calls,
    ):
        yield Pair(theirs, ours, calls)


class Said(NamedTuple):
    exit: int
    stdout: str
    stderr: str


def run(
    pair: Pair, found: Secured, tool: str, where: str, user: str, arguments: list[str], *, by_ours: bool = False
) -> Said:
    """by_ours: whether our tool is asked."""
    address = found.bootstrap if where == "server" else found.bootstrap_controller
    command = [f"--bootstrap-{where}", address, "--command-config", found.asked(user), *arguments]
    answer = ours_says(tool, command) if by_ours else pair.calls.ask({"tool": tool, "args": command})
    return Said(answer["exit"], plain(found, answer["stdout"]), plain(found, answer["stderr"]))


def plain(found: Secured, text: str) -> str:
    """The output without what differs from run to run."""
    for node in (*found.controllers.values(), *found.brokers.values()):
        text = text.replace(f"127.0.0.1:{node.port}", f"{node.role}:0")
    text = text.replace(str(found.root), "ROOT")
    text = re.sub(r"client-\d+\.properties", "client.properties", text)
    text = re.sub(r"127\.0\.0\.1-\d+(-\d+)?|127\.0\.0\.1:\d+-127\.0\.0\.1:\d+(-\d+)*", "CONNECTION", text)
    text = re.sub(r"Request Request\(.*\) needs", "Request needs", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d", "DATE", text)
    text = re.sub(r"[A-Za-z0-9+/]{86}==", "HMAC", text)
    text = re.sub(r"[A-Za-z0-9_-]{22}(?= +HMAC)|(?<=tokenId : )[A-Za-z0-9_-]{22}", "TOKEN", text)
    # Stock repeats passwords in its errors; ours hides them.
    text = re.sub(r"(?m)(^Error while executing .*?SCRAM-SHA-\d+=).*?(?= --|'$)", r"\1[hidden]", text)
    text = re.sub(r"(?<=TopicId: )[A-Za-z0-9_-]{22}", "ID", text)
    text = acls_in_order(text)
    lines = [line.rstrip() for line in text.splitlines() if not re.match(r"\s+at |\s+\.\.\. \d+ more", line)]
    # A change is shown together with what the broker knew before or after it.
    end = next((number for number, line in enumerate(lines) if line.startswith("Current ACLs for")), None)
    return "\n".join(sorted(lines) if end is None else lines[:end])


def compare(
    pair: Pair, tool: str, steps: list[tuple[str, str, list[str]]], *, refused: int = 4, our_tool: bool = False
) -> list[object]:
    """Run each step on both, where and as whom it says; what a broker tells may be some moments old, so differences
    must last. refused: how many steps at least must fail, while more succeed: so that the steps do test something.
    our_tool: whether the cluster with our controller is asked by our tool.
    """
    differences: list[object] = []
    exits = {0: 0, 1: 0}
    for number, (where, user, arguments) in enumerate(steps):
        given = (tool, where, user, arguments)
        theirs, ours = run(pair, pair.stock, *given), run(pair, pair.ours, *given, by_ours=our_tool)
        if theirs != ours and is_repeatable(arguments):
            end = time.monotonic() + 10
            while theirs != ours and time.monotonic() < end:
                theirs, ours = run(pair, pair.stock, *given), run(pair, pair.ours, *given, by_ours=our_tool)
        if theirs != ours:
            differences.append((number, where, user, arguments, theirs, ours))
        exits[theirs.exit] += 1
    assert refused <= exits[1] < max(exits[0], refused + 1), exits
    return differences


def is_repeatable(arguments: list[str]) -> bool:
    return "--list" in arguments or "--describe" in arguments


def acls(where: str) -> list[tuple[str, str, list[str]]]:
    ann = "User:ann"
    steps = [
        (ADMIN, ["--list"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--operation", "Read", "--operation", "Write", "--topic", "t"]),
        (ADMIN, ["--add", "--deny-principal", ann, "--deny-host", "10.0.0.1", "--operation", "All", "--topic", "*"]),
        (ADMIN, ["--add", "--allow-principal", "User:*", "--producer", "--topic", "p-", "--transactional-id", "x",
                 "--idempotent", "--resource-pattern-type", "prefixed"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--consumer", "--topic", "t", "--group", "g"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--operation", "Alter", "--cluster"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--operation", "Describe", "--delegation-token", "User:bob"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--operation", "CreateTokens", "--user-principal", "User:bob"]),
        (ADMIN, ["--list"]),
        (ADMIN, ["--list", "--topic", "t"]),
        (ADMIN, ["--list", "--topic", "p-x", "--resource-pattern-type", "match"]),
        (ADMIN, ["--list", "--principal", ann]),
        (ADMIN, ["--list", "--group", "absent"]),
        (ANN, ["--list", "--topic", "u"]),
        (ADMIN, ["--remove", "--force", "--allow-principal", ann, "--operation", "Read", "--topic", "t"]),
        (ADMIN, ["--remove", "--force", "--topic", "p-", "--resource-pattern-type", "any"]),
        (ADMIN, ["--remove", "--force", "--allow-principal", "User:nobody", "--operation", "Read", "--topic", "t"]),
        (ADMIN, ["--remove", "--force", "--group", "g"]),
        (ADMIN, ["--list"]),
        (ADMIN, ["--add", "--allow-principal", "ann", "--operation", "Read", "--topic", "t"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--operation", "CreateTokens", "--topic", "t"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--operation", "Fly", "--topic", "t"]),
        (ADMIN, ["--add", "--operation", "Read", "--topic", "t"]),
        (ADMIN, ["--add", "--allow-principal", ann, "--topic", "t", "--resource-pattern-type", "match"]),
        (ADMIN, ["--remove", "--force", "--cluster", "--delegation-token", "*", "--user-principal", "*", "--topic",
                 "*", "--transactional-id", "*", "--resource-pattern-type", "match"]),
        (ADMIN, ["--remove", "--force", "--cluster"]),
        (ADMIN, ["--remove", "--force", "--topic", "t"]),
        (ADMIN, ["--remove", "--force", "--delegation-token", "User:bob"]),
        (ADMIN, ["--remove", "--force", "--user-principal", "User:bob"]),
        (ADMIN, ["--remove", "--force", "--transactional-id", "x", "--resource-pattern-type", "prefixed"]),
        (ADMIN, ["--list"]),
    ]  # fmt: skip
    return [(where, user, arguments) for user, arguments in steps]


@pytest.mark.parametrize("where", ["server", "controller"])
def test_kafka_acls(pair: Pair, where: str) -> None:
    assert_none(compare(pair, "acls", acls(where)))


@pytest.mark.parametrize("where", ["server", "controller"])
def test_our_kafka_acls(pair: Pair, where: str) -> None:
    assert_none(compare(pair, "acls", acls(where), our_tool=True))


def test_nobody_may_list_acls_without_a_right(pair: Pair) -> None:
    steps = [
        ("server", ANN, ["--list"]),
        ("controller", ANN, ["--list"]),
        ("server", ANN, ["--add", "--allow-principal", "User:ann", "--operation", "All", "--topic", "*"]),
        ("controller", ANN, ["--remove", "--force", "--topic", "t"]),
    ]

    assert_none(compare(pair, "acls", steps, refused=len(steps)))


def users(name: str, *client: str) -> list[str]:
    parts = ["--entity-type", "users", *(["--entity-name", name] if name else ["--entity-default"])]
    return [*parts, *(["--entity-type", "clients", "--entity-name", *client] if client else [])]


TWO = "SCRAM-SHA-256=[iterations=8192,password=x],SCRAM-SHA-512=[password=y]"
RATES = "request_percentage=50.5,controller_mutation_rate=2"
CONFIGS: list[tuple[str, str, list[str]]] = [
    # Credentials of SCRAM.
    ("server", ADMIN, ["--alter", "--add-config", TWO,
                       *users("alice")]),
    ("server", ADMIN, ["--describe", *users("alice")]),
    ("server", ADMIN, ["--alter", "--add-config", "SCRAM-SHA-256=[iterations=100,password=x]", *users("bob")]),
    ("server", ADMIN, ["--alter", "--add-config", "SCRAM-SHA-256=[iterations=99999,password=x]", *users("bob")]),
    ("server", ADMIN, ["--alter", "--add-config", "SCRAM-MD5=[password=x]", *users("bob")]),
    ("server", ADMIN, ["--alter", "--delete-config", "SCRAM-SHA-256", *users("alice")]),
    ("server", ADMIN, ["--describe", *users("alice")]),
    ("server", ADMIN, ["--alter", "--delete-config", "SCRAM-SHA-256", *users("alice")]),
    ("server", ADMIN, ["--alter", "--delete-config", "SCRAM-SHA-512", *users("alice")]),
    ("server", ADMIN, ["--describe", *users("alice")]),
    ("server", ADMIN, ["--describe", "--entity-type", "users"]),
    ("server", ANN, ["--alter", "--add-config", "SCRAM-SHA-512=[password=z]", *users("ann")]),
    ("server", ANN, ["--describe", *users("ann")]),
    # Quotas of users, clients and both; of addresses.
    ("server", ADMIN, ["--alter", "--add-config", "producer_byte_rate=1024,consumer_byte_rate=2048", *users("u")]),
    ("server", ADMIN, ["--alter", "--add-config", RATES, *users("u", "c")]),
    ("server", ADMIN, ["--alter", "--add-config", "producer_byte_rate=1", *users("")]),
    ("server", ADMIN, ["--alter", "--add-config", "producer_byte_rate=7", "--entity-type", "clients",
                       "--entity-default"]),
    ("server", ADMIN, ["--alter", "--add-config", "connection_creation_rate=1000", "--entity-type", "ips",
                       "--entity-name", "10.9.8.7"]),
    ("server", ADMIN, ["--alter", "--add-config", "connection_creation_rate=1000", "--entity-type", "ips",
                       "--entity-name", "10.9.8.777"]),
    ("server", ADMIN, ["--describe", *users("u")]),
    ("server", ADMIN, ["--describe", *users("u", "c")]),
    ("server", ADMIN, ["--describe", "--entity-type", "users", "--entity-type", "clients"]),
    ("server", ADMIN, ["--describe", "--entity-type", "users", "--entity-default"]),
    ("server", ADMIN, ["--describe", "--entity-type", "clients"]),
    ("server", ADMIN, ["--describe", "--entity-type", "ips"]),
    ("server", ADMIN, ["--alter", "--add-config", "producer_byte_rate=-1", *users("u")]),
    ("server", ADMIN, ["--alter", "--add-config", "producer_byte_rate=1.5", *users("u")]),
    ("server", ADMIN, ["--alter", "--add-config", "no_such_rate=1", *users("u")]),
    ("server", ADMIN, ["--alter", "--add-config", "connection_creation_rate=5", *users("u")]),
    ("server", ANN, ["--alter", "--add-config", "producer_byte_rate=9", *users("ann")]),
    ("server", ANN, ["--describe", "--entity-type", "users", "--entity-default"]),
    ("server", ADMIN, ["--alter", "--delete-config", "producer_byte_rate", *users("u")]),
    ("server", ADMIN, ["--describe", *users("u")]),
    ("server", ADMIN, ["--alter", "--delete-config", "producer_byte_rate", *users("u")]),
    ("server", ADMIN, ["--alter", "--delete-config", "consumer_byte_rate", *users("u")]),
    ("server", ADMIN, ["--alter", "--delete-config", "request_percentage,controller_mutation_rate", *users("u", "c")]),
    ("server", ADMIN, ["--alter", "--delete-config", "producer_byte_rate", *users("")]),
    ("server", ADMIN, ["--alter", "--delete-config", "producer_byte_rate", "--entity-type", "clients",
                       "--entity-default"]),
    ("server", ADMIN, ["--describe", "--entity-type", "users", "--entity-type", "clients"]),
    # By way of a controller.
    ("controller", ADMIN, ["--alter", "--add-config", "producer_byte_rate=1024", *users("v")]),
    ("controller", ADMIN, ["--alter", "--add-config", "SCRAM-SHA-256=[password=x]", *users("v")]),
    ("controller", ADMIN, ["--describe", *users("v")]),
    ("controller", ANN, ["--alter", "--add-config", "producer_byte_rate=1024", *users("v")]),
    ("controller", ADMIN, ["--alter", "--add-config", "log.cleaner.threads=2", "--entity-type", "brokers",
                           "--entity-default"]),
    ("controller", ADMIN, ["--describe", "--entity-type", "brokers", "--entity-default"]),
    ("controller", ADMIN, ["--alter", "--delete-config", "log.cleaner.threads", "--entity-type", "brokers",
                           "--entity-default"]),
    ("controller", ANN, ["--alter", "--add-config", "log.cleaner.threads=2", "--entity-type", "brokers",
                         "--entity-default"]),
]  # fmt: skip


def test_kafka_configs(pair: Pair) -> None:
    assert_none(compare(pair, "configs", CONFIGS))


def test_our_kafka_configs(pair: Pair) -> None:
    assert_none(compare(pair, "configs", CONFIGS, our_tool=True))


def topics(where: str) -> list[tuple[str, str, list[str]]]:
    created = ["--partitions", "3", "--replication-factor", "1", "--config", "retention.ms=5000"]
    steps = [
        (ADMIN, ["--create", "--topic", "one", *created]),
        (ADMIN, ["--create", "--topic", "one", *created]),
        (ADMIN, ["--create", "--topic", "one", "--if-not-exists"]),
        (ADMIN, ["--create", "--topic", "two", "--replication-factor", "2"]),
        (ADMIN, ["--create", "--topic", "two", "--replica-assignment", "101,101"]),
        (ADMIN, ["--create", "--topic", "two", "--config", "retention.ms=soon"]),
        (ADMIN, ["--create", "--topic", "two", "--partitions", "2"]),
        (ANN, ["--create", "--topic", "three", "--partitions", "1"]),
        (ADMIN, ["--describe", "--topic", "one"]),
        (ADMIN, ["--list", "--topic", "one|two"]),
        (ADMIN, ["--describe", "--topic", "absent"]),
        (ADMIN, ["--alter", "--topic", "two", "--partitions", "4"]),
        (ADMIN, ["--alter", "--topic", "two", "--partitions", "1"]),
        (ANN, ["--alter", "--topic", "two", "--partitions", "5"]),
        (ADMIN, ["--describe", "--topic", "two"]),
        (ANN, ["--delete", "--topic", "two"]),
        (ADMIN, ["--delete", "--topic", "one"]),
        (ADMIN, ["--delete", "--topic", "two"]),
        (ADMIN, ["--delete", "--topic", "absent"]),
        (ADMIN, ["--delete", "--topic", "absent", "--if-exists"]),
        (ADMIN, ["--list", "--topic", "one|two"]),
    ]
    return [(where, user, arguments) for user, arguments in steps]


def test_kafka_topics(pair: Pair) -> None:
    assert_none(compare(pair, "topics", topics("server")))


def test_our_kafka_topics(pair: Pair) -> None:
    assert_none(compare(pair, "topics", topics("server"), our_tool=True))


def test_our_kafka_topics_at_a_controller_prints_as_stocks_at_a_broker(pair: Pair) -> None:
    """Stock's has no `--bootstrap-controller`. A controller needs rights on the cluster, so ADMIN asks."""
    differences: list[object] = []
    for _, user, arguments in topics("server"):
        if user != ADMIN:
            continue
        end = time.monotonic() + 10
        while True:
            theirs = run(pair, pair.stock, "topics", "server", ADMIN, arguments)
            ours = run(pair, pair.ours, "topics", "controller", ADMIN, arguments, by_ours=True)
            if theirs == ours or not is_repeatable(arguments) or time.monotonic() > end:
                break
        if theirs != ours:
            differences.append((arguments, theirs, ours))

    assert_none(differences)


@pytest.mark.parametrize("by", ["stock's tool", "our tool"])
def test_kafka_delegation_tokens(pair: Pair, by: str) -> None:
    differences = []
    hmacs = [""] * 2
    steps: list[tuple[str, list[str]]] = [
        (ADMIN, ["--describe"]),
        (ADMIN, ["--create", "--max-life-time-period", "500000000", "--renewer-principal", "User:bob"]),
        (ANN, ["--create", "--max-life-time-period", "-1"]),
        (ANN, ["--create", "--max-life-time-period", "-1", "--owner-principal", "User:bob"]),
        (ADMIN, ["--create", "--max-life-time-period", "-1", "--owner-principal", "User:bob"]),
        (ADMIN, ["--describe"]),
        (ADMIN, ["--describe", "--owner-principal", "User:bob"]),
        (ANN, ["--describe"]),
        (ANN, ["--describe", "--owner-principal", "User:bob"]),
        (ADMIN, ["--renew", "--renew-time-period", "1000000", "--hmac", "HMAC"]),
        (ANN, ["--renew", "--renew-time-period", "-1", "--hmac", "HMAC"]),
        (ADMIN, ["--renew", "--renew-time-period", "-1", "--hmac", "YWJj"]),
        (ADMIN, ["--renew", "--renew-time-period", "-1", "--hmac", "no base64!"]),
        (ANN, ["--expire", "--expiry-time-period", "-1", "--hmac", "HMAC"]),
        (ADMIN, ["--expire", "--expiry-time-period", "1000000", "--hmac", "HMAC"]),
        (ADMIN, ["--expire", "--expiry-time-period", "-1", "--hmac", "HMAC"]),
        (ADMIN, ["--expire", "--expiry-time-period", "-1", "--hmac", "HMAC"]),
        (ADMIN, ["--describe"]),
        (ADMIN, ["--create", "--max-life-time-period", "-1", "--renewer-principal", "bob"]),
    ]
    for number, (user, arguments) in enumerate(steps):
        end = time.monotonic() + 10
        while True:
            said = []
            for place, found in enumerate((pair.stock, pair.ours)):
                given = [hmacs[place] if argument == "HMAC" else argument for argument in arguments]
                command = ["--bootstrap-server", found.bootstrap, "--command-config", found.asked(user), *given]
                # Stock's cluster is asked by stock's tool, ours by each.
                if found is pair.ours and by == "our tool":
                    answer = ours_says("delegation-tokens", command)
                else:
                    answer = pair.calls.ask({"tool": "delegation-tokens", "args": command})
                made = re.search(r"[A-Za-z0-9+/]{86}==", answer["stdout"])
                if number == 1 and made is not None:
                    hmacs[place] = made[0]
                texts = (answer[name].replace(hmacs[place] or "\n\n", "HMAC") for name in ("stdout", "stderr"))
                said.append(Said(answer["exit"], *(plain(found, text) for text in texts)))
            if said[0] == said[1] or not is_repeatable(arguments) or time.monotonic() > end:
                break
        if said[0] != said[1]:
            differences.append((number, user, arguments, *said))

    assert all(hmacs)
    assert_none(differences)


def assert_none(differences: list[object]) -> None:
    assert differences == [], "\n".join(str(each) for each in differences[:9])


def test_kraftctl_takes_the_client_properties_of_stocks_tools(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for found in (pair.stock, pair.ours):
        at = ["--bootstrap-controller", found.bootstrap_controller, "--command-config"]
        codes = [
            main(["wait", *at, found.asked(ADMIN), "--timeout", "20"]),
            main(["status", *at, found.asked(ADMIN), "--field", "voters"]),
            main(["status", *at, found.asked(ANN), "--field", "voters"]),
        ]
        out, err = capsys.readouterr()
        said.append(
            (codes, out.split() == [str(each) for each in found.controllers], err.partition(": ")[2].split(": ")[-1])
        )

    assert said == [([0, 0, 1], True, "CLUSTER_AUTHORIZATION_FAILED\n")] * 2


def test_kraftctl_bench_with_the_same_properties(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    for found in (pair.stock, pair.ours):
        at = ["--bootstrap-controller", found.bootstrap_controller, "--seconds", "1", "--limit", "10000"]

        allowed = main(["bench", *at, "--command-config", found.asked(ADMIN)])
        refused = main(["bench", *at, "--command-config", found.asked(ANN)])

        out, err = capsys.readouterr()
        assert (allowed in (0, 2), refused) == (True, 1)
        assert "CreateTopics, only validated (ms)" in out
        assert err.endswith("CLUSTER_AUTHORIZATION_FAILED\n")
