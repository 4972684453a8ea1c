"""Files that both nodes wrote for the same frames: all tools print the same for both, and both nodes start on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.interop.cluster import OURS, STOCK
from tests.oracle.conftest import seed_of_the_day
from tests.oracle.wire.explore import Explorer
from tests.oracle.wire.generate import sequence
from tests.oracle.wire.pair import WirePair

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.wire.nodes import WireNode

DECODER = "--cluster-metadata-decoder"


def tools_agree(node: WireNode) -> None:
    """Our tools and stock's print the same for all files of a node."""
    data = node.directory / "data"
    written = sorted([*data.rglob("*.log"), *data.rglob("*.checkpoint")])
    assert any(path.suffix == ".log" and path.stat().st_size > 0 for path in written)
    for path in written:
        name = str(path.relative_to(node.directory))
        printed = [node.tool(kind, "dump-log", DECODER, "--files", name) for kind in (OURS, STOCK)]
        assert printed[0].stdout == printed[1].stdout, name
        assert [each.returncode for each in printed] == [0, 0], printed
    done = [node.tool(kind, "storage", "info", "-c", "server.properties") for kind in (OURS, STOCK)]
    assert done[0].stdout == done[1].stdout
    assert [each.returncode for each in done] == [0, 0], done
    again = [node.format(by=kind) for kind in (OURS, STOCK)]
    assert again[0].returncode == again[1].returncode != 0
    assert again[0].stderr.splitlines()[-1:] == again[1].stderr.splitlines()[-1:]


def test_each_side_goes_on_in_the_directory_that_the_other_wrote(tmp_path: Path) -> None:
    pair = WirePair(tmp_path)
    try:
        pair.renew()
        explorer = Explorer(pair, print)
        for seed in range(seed_of_the_day(), seed_of_the_day() + 4):
            if not explorer.run(sequence(seed)).is_sound:
                pair.renew()
        pair.stop()
        for node in pair.nodes:
            tools_agree(node)

        pair.exchange_directories()
        outcome = explorer.run(sequence(seed_of_the_day() + 4))

        assert [str(each) for each in outcome.found] == []
        pair.stop()
        for node in pair.nodes:
            tools_agree(node)
    finally:
        pair.close()
