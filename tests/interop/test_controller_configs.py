"""kafka-configs changes dynamic configs of a controller, on ours and on stock, with the same texts and exit codes.

Values that are valid by themselves, and cannot be applied to the node, differ on purpose: docs/differences.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.interop.cluster import OURS, STOCK, cluster, eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.dynamic import Done
    from tests.interop.stock import Stock

NODE = ("--entity-type", "brokers", "--entity-name", "1")
DEFAULT = ("--entity-type", "brokers", "--entity-default")
STEPS = [
    (*NODE, "--alter", "--add-config", "max.connections=500,num.io.threads=9"),
    (*NODE, "--describe"),
    (*NODE, "--alter", "--add-config", "max.connections=many"),
    (*NODE, "--alter", "--add-config", "controller.quorum.election.timeout.ms=2000"),
    (*NODE, "--alter", "--add-config", "node.id=2"),
    (*NODE, "--alter", "--add-config", "no.such.key=1"),
    (*NODE, "--alter", "--delete-config", "max.connections"),
    (*NODE, "--alter", "--delete-config", "max.connections"),
    (*NODE, "--describe"),
    (*DEFAULT, "--alter", "--add-config", "min.insync.replicas=1,unclean.leader.election.enable=false"),
    (*DEFAULT, "--alter", "--add-config", "max.connection.creation.rate=-1"),
    (*DEFAULT, "--describe"),
]


def configure(stock: Stock, kind: str, *arguments: str) -> Done:
    """The stock tool; a stock controller is asked until it has applied what it describes."""
    tried: list[Done] = []

    def is_answered() -> bool:
        tried.append(stock.tool("configs", *arguments))
        return kind == OURS or is_applied(tried[-1].stdout)

    eventually(is_answered, "the stock controller applies its configs")
    return tried[-1]


def is_applied(described: str) -> bool:
    """Whether each value is the first of its synonyms: for a moment a stock node shows the former value, which it still
    applies, beside the synonyms that it has read.
    """
    shown = re.findall(r"(?m)^  (\S+?)=(.*) sensitive=false synonyms=\{\w+:\1=([^,}]*)", described)
    return all(value == first for _, value, first in shown)


def test_dynamic_configs_of_a_controller_are_changed_as_on_stock(tmp_path: Path, stock: Stock) -> None:
    texts: dict[str, list[tuple[tuple[str, ...], int, str, str]]] = {}
    for kind in (OURS, STOCK):
        (tmp_path / kind).mkdir()
        with cluster(tmp_path / kind, stock, [kind], 0, controllers_by=kind) as found:
            server = ("--bootstrap-controller", found.bootstrap_controller)
            texts[kind] = []
            for step in STEPS:
                done = configure(stock, kind, *server, *step)
                errors = re.sub(r"(?m)^\tat .*\n", "", done.stderr)
                texts[kind].append((step[2:], done.returncode, done.stdout, errors))

    assert texts[OURS] == texts[STOCK]
    # A controller of stock takes values that no node could use, and names that no node knows.
    assert {code for _, code, _, _ in texts[STOCK]} == {0}
    assert "max.connections=500 sensitive=false" in texts[STOCK][1][2]
