"""Who deleted the topic: the metadata log of stock does not say it, the audit log of our controller does."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

from tests.interop.cluster import BIN, OURS, STOCK, eventually
from tests.interop.secured import ADMIN, ANN, PASSWORDS, secured

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.secured import Secured
    from tests.interop.stock import Stock

SEGMENT = f"__cluster_metadata-0/{'0' * 20}.log"


def topics(found: Secured, user: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return found.stock.tool(
        "topics", "--bootstrap-server", found.bootstrap, "--command-config", found.asked(user), *arguments
    )


def ann_deletes_a_topic(found: Secured) -> None:
    for topic in ("orders", "bills"):
        made = topics(found, ADMIN, "--create", "--topic", topic, "--partitions", "2", "--replication-factor", "1")
        assert made.returncode == 0, made.stderr
    found.tool(
        "acls", "--bootstrap-server", found.bootstrap, "--command-config", found.asked(ADMIN), "--add",
        "--allow-principal", "User:ann", "--operation", "Delete", "--topic", "orders",
    )  # fmt: skip
    found.tool(
        "acls", "--bootstrap-server", found.bootstrap, "--command-config", found.asked(ADMIN), "--add",
        "--allow-principal", "User:ann", "--operation", "Describe", "--topic", "*",
    )  # fmt: skip
    done = topics(found, ANN, "--delete", "--topic", "orders")
    assert done.returncode == 0, done.stderr


def records(found: Secured) -> list[dict[str, Any]]:
    """The records of the first controller's log, as stock's tool shows them."""
    log = str(found.controllers[1].directory / SEGMENT)
    shown = found.tool("dump-log", "--cluster-metadata-decoder", "--files", log)
    return [json.loads(each) for each in re.findall(r"payload: (\{.*\})", shown)]


def test_the_log_of_stock_has_the_deletion_and_not_who_asked_for_it(tmp_path: Path, stock: Stock) -> None:
    with secured(tmp_path, stock, [STOCK], controllers_by=STOCK) as found:
        ann_deletes_a_topic(found)
        kept = records(found)

    (removal,) = (number for number, each in enumerate(kept) if each["type"] == "REMOVE_TOPIC_RECORD")
    assert list(kept[removal]["data"]) == ["topicId"]
    assert "ann" in json.dumps(kept[:removal])  # her credential, and what she is allowed
    assert "ann" not in json.dumps(kept[removal:])


def test_history_with_the_audit_log_says_who_deleted_the_topic(tmp_path: Path, stock: Stock) -> None:
    audit = tmp_path / "audit.log"
    with secured(tmp_path, stock, [OURS], settings={"kraft.audit.log": str(audit)}) as found:
        ann_deletes_a_topic(found)
        refused = topics(found, ANN, "--delete", "--topic", "bills")
        assert "TopicAuthorizationException" in refused.stdout + refused.stderr
        eventually(lambda: '"outcome":"refused"' in audit.read_text(), "the line of the refusal")
        directory = str(found.controllers[1].directory)
        done = subprocess.run(
            [str(BIN / "kraftctl"), "history", "--topic", "orders", "--directory", directory, "--audit", str(audit)],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
    text = audit.read_text()
    lines = [json.loads(line) for line in text.splitlines()]

    of_topics = [line for line in lines if line["api"] in {"CreateTopics", "DeleteTopics"}]
    assert [
        (
            line["api"],
            line["principal"],
            line["outcome"],
            line["resources"][0]["name"],
            line["resources"][0].get("error"),
        )
        for line in of_topics
    ] == [
        ("CreateTopics", "User:admin", "committed", "orders", None),
        ("CreateTopics", "User:admin", "committed", "bills", None),
        ("DeleteTopics", "User:ann", "committed", "orders", None),
        ("DeleteTopics", "User:ann", "refused", "bills", "TOPIC_AUTHORIZATION_FAILED"),
    ]
    assert {(line["forwarder"]["principal"], line["client_address"]) for line in of_topics} == {
        ("User:broker", "127.0.0.1")
    }
    (deleted,) = (line for line in done.stdout.splitlines() if re.search(r"topic orders \(id \S+\) deleted", line))
    assert re.search(
        r"\[DeleteTopics by User:ann, client adminclient-\d+, from 127.0.0.1 by way of User:broker\]$", deleted
    )
    created = next(line for line in done.stdout.splitlines() if re.search(r"topic orders \(id \S+\) created", line))
    assert "[CreateTopics by User:admin" in created
    assert not [secret for secret in PASSWORDS.values() if secret in text]
