"""The table of Kafka's tools in the documents has today's tools and options."""

from __future__ import annotations

from tools.reference import tool_table as reference


def test_the_document_is_up_to_date() -> None:
    text = reference.FILE.read_text("utf-8")

    assert text == reference.page(text), "run make docs"
    verbs = "`cluster-id`, `unregister`, `unregister-controller`, `list-endpoints`, `api-versions`"
    assert f"| `kafka-cluster` | {verbs} | |\n" in text


def test_a_table_that_is_out_of_date_is_replaced() -> None:
    before, after = "# Tools\n\n", "\nmore\n"

    assert reference.page(f"{before}{reference.HEAD}| `old` | x | |\n{after}") == before + reference.table() + after
