"""The conformance page: no cell is empty, what it names exists, and nothing that the texts name is without a row."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from controller.core.apis import APIS as SERVED
from records.registry import APIS, PROPOSALS
from records.schema import schema_of
from tests.records.guide_comparison import GUIDES, guide

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "conformance" / "conformance.md"
HEADER = ["In the text", "In Kafka 4.x", "Where, or why not", "Shown by"]
REFERENCE = re.compile(r"`((?:records|raft|controller|tools|tests|docs|pipeline|simulations)/[\w./-]+)(?:::?(\w+))?`")

KIP_631_RECORDS = {
    "RegisterBrokerRecord", "UnregisterBrokerRecord", "TopicRecord", "PartitionRecord", "ConfigRecord",
    "IsrChangeRecord", "PartitionChangeRecord", "AccessControlRecord", "RemoveTopicRecord",
}  # fmt: skip
KIP_631_CONFIGS = {
    "process.roles", "controller.listener.names", "listeners", "sasl.mechanism.controller.protocol",
    "controller.quorum.voters", "node.id", "initial.broker.registration.timeout.ms", "broker.heartbeat.interval.ms",
    "broker.session.timeout.ms", "metadata.log.dir", "controller.quorum.fetch.timeout.ms",
    "controller.quorum.election.timeout.ms", "controller.quorum.election.backoff.max.ms",
    "controller.quorum.request.timeout.ms", "controller.quorum.retry.backoff.ms",
    "controller.quorum.retry.backoff.max.ms", "control.plane.listener.name", "broker.id.generation.enable",
    "zookeeper.*",
}  # fmt: skip
KIP_631_REQUESTS = {
    "BrokerRegistration", "BrokerRegistrationRequest", "BrokerRegistrationResponse", "BrokerHeartbeat",
    "BrokerHeartbeatRequest", "BrokerHeartbeatResponse", "UnregisterBroker", "UnregisterBrokerRequest",
    "UnregisterBrokerResponse", "LeaderAndIsr", "UpdateMetadata", "StopReplica", "ControlledShutdown",
}  # fmt: skip
KIP_631_ERRORS = {
    "DUPLICATE_BROKER_REGISTRATION", "INVALID_CLUSTER_ID", "NOT_CONTROLLER", "FENCED_LEADER_EPOCH",
    "UNSUPPORTED_VERSION",
}  # fmt: skip


@cache
def sections() -> dict[str, list[list[str]]]:
    """Heading -> rows of its table."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
            found[heading] = []
        elif heading and line.startswith("|") and not line.startswith("|---"):
            found[heading].append([cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")])
    return {name: rows[1:] for name, rows in found.items() if rows and rows[0] == HEADER}


def rows() -> list[list[str]]:
    return [row for table in sections().values() for row in table]


def first_cells(heading: str) -> str:
    return "\n".join(row[0] for row in sections()[heading])


@cache
def names_in(path: Path) -> set[str]:
    """Functions, classes and constants of a module, at whatever depth."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def test_every_section_has_rows_of_four_cells_none_of_them_empty() -> None:
    assert len(sections()) == 15
    assert len(rows()) > 400
    assert [row for row in rows() if len(row) != 4 or not all(row)] == []


def test_every_file_function_and_test_that_is_named_exists() -> None:
    wrong = []
    for path, name in REFERENCE.findall(PAGE.read_text()):
        file = ROOT / path
        if not file.is_file() or (name and name not in names_in(file)):
            wrong.append(f"{path}:{name}")

    assert wrong == []


def test_every_row_names_a_test_and_the_code_or_a_reason() -> None:
    untested = [row for row in rows() if not re.search(r"`tests/", row[3])]
    nowhere = [row for row in rows() if not REFERENCE.search(row[2]) and "Not wanted any more: " not in row[2]]

    assert (untested, nowhere) == ([], [])


@pytest.mark.parametrize("name", GUIDES)
def test_every_api_of_the_guides_has_a_row(name: str) -> None:
    listed = first_cells("Protocol guides 0.9 and 4.1: APIs")

    assert [api for api in guide(name).api_keys if f"`{api}`" not in listed] == []


def test_an_api_row_names_the_function_that_serves_it_or_says_that_none_does() -> None:
    wrong = []
    for row in sections()["Protocol guides 0.9 and 4.1: APIs"]:
        key = int(re.search(r"\((\d+)\)", row[0])[1])  # type: ignore[index]
        is_served = "on a controller's listener" in row[1]
        if is_served and key in SERVED:
            handler, versions = SERVED[key].handler, SERVED[key].versions
            if f"versions {versions[0]}-{versions[1]} on" not in row[1] or (
                handler is not None and f":{handler.__name__}`" not in row[2]
            ):
                wrong.append(row[0])
        elif is_served != (key in SERVED) or schema_of(_request(key)).name not in row[2]:
            wrong.append(row[0])

    assert wrong == [], "these rows do not say what controller.core.apis says"


def _request(api_key: int) -> type:
    from records.registry import request_class

    return request_class(api_key)


@pytest.mark.parametrize("name", GUIDES)
def test_every_error_type_and_header_of_the_guides_has_a_row(name: str) -> None:
    parsed = guide(name)
    errors = first_cells("Protocol guides 0.9 and 4.1: error codes")
    types = first_cells("Protocol guide 4.1: primitive types")
    connection = first_cells("Protocol guides 0.9 and 4.1: the connection")

    headers = [f"{one.title} v{one.version}" if one.version >= 0 else f"{one.title} (0.9)" for one in parsed.headers]
    assert [row.name for row in parsed.errors if f"`{row.name}`" not in errors] == []
    assert [type_ for type_ in parsed.types if f"`{type_}`" not in types] == []
    assert [header for header in headers if header not in connection] == []


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("KIP-631: records", KIP_631_RECORDS),
        ("KIP-631: configs", KIP_631_CONFIGS),
        ("KIP-631: requests and their rules", KIP_631_REQUESTS),
        ("KIP-631: errors", KIP_631_ERRORS),
    ],
)
def test_everything_that_kip_631_names_has_a_row(heading: str, names: set[str]) -> None:
    listed = [re.split(r"[ ,:]", row[0].strip("`"))[0].strip("`") for row in sections()[heading]]

    assert names - set(listed) == set()


def test_every_message_of_the_proposals_has_a_row() -> None:
    page = PAGE.read_text()

    assert [name for name in PROPOSALS if f":{name}`" not in page] == []
    assert {name for name, _ in APIS.values()}.isdisjoint(PROPOSALS)
