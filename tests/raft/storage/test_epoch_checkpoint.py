"""leader-epoch-checkpoint in Kafka's form."""

from __future__ import annotations

import pytest

from raft.storage.epoch_checkpoint import epochs_text, parse_epochs
from tests.raft.storage.golden import DIRECTORIES, partition


@pytest.mark.parametrize(("quorum", "node"), DIRECTORIES)
def test_files_of_stock_nodes_are_read_and_written_again(quorum: str, node: str) -> None:
    text = (partition(quorum, node) / "leader-epoch-checkpoint").read_bytes()

    assert epochs_text(parse_epochs(text)) == text


def test_no_entries() -> None:
    assert (parse_epochs(b""), parse_epochs(b"0\n0\n"), epochs_text(())) == ((), (), b"0\n0\n")


@pytest.mark.parametrize(
    "text", [b"1\n0\n", b"0\n", b"0\n2\n1 0\n", b"0\n1\n1\n", b"0\n1\nx y\n", b"0\nx\n", b"\xff\n"]
)
def test_another_text_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each fault has a text of its own
        parse_epochs(text)
