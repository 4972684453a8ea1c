"""Filters: those that are pushed down lose no matching row, and prune ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipeline.source.directories import find
from pipeline.source.logs import logs_of
from pipeline.source.options import OptionError, progress_of
from pipeline.source.quorum import addresses_of
from pipeline.source.ranges import plan
from pipeline.source.reading import Wanted
from pipeline.source.selection import Selection
from tests.pipeline.logs import BEGIN_MS, node_directory, read
from tests.pipeline.source.test_ranges import batches, offsets

if TYPE_CHECKING:
    from pathlib import Path


def test_offsets_and_times_prune_ranges(tmp_path: Path) -> None:
    node_directory(tmp_path / "node", {0: b"".join(batches(50))})
    found = plan(find([str(tmp_path / "node")])[0], range_bytes=1)
    selection = Selection()

    decided = [selection.take("offset", ">=", [10]), selection.take("offset", "<", [40])]
    selection.take("time", ">", [BEGIN_MS + 20_000])

    ranges, findings = selection.of(found)
    assert decided == [False, False]
    assert [part.base_offset for part in ranges] == list(range(20, 40))
    assert findings == []


def test_filters_on_types_and_clusters_are_applied_completely(tmp_path: Path) -> None:
    node_directory(tmp_path / "node", {0: b"".join(batches(20))})
    found = plan(find([str(tmp_path / "node")])[0])
    other, mine = Selection(), Selection()

    decided = [other.take("cluster", "=", ["another"]), mine.take("type", "=", [4, 5]), mine.take("type", "=", [4])]

    assert decided == [True, True, True]
    assert other.of(found) == ([], [])
    assert mine.row_filter == Wanted(types=frozenset((4,)))
    assert offsets(read(tmp_path / "node", wanted=mine.row_filter)) == list(range(20))
    assert offsets(read(tmp_path / "node", wanted=Wanted(types=frozenset((5,))))) == []
    assert offsets(read(tmp_path / "node", wanted=Wanted(offsets=(5, 7)))) == [5, 6]


def test_an_invalid_option_is_refused_in_one_line_that_names_it() -> None:
    wrong = [
        ({}, "nothing to read"),
        ({"path": "x", "quorum": "h:1"}, "only one of"),
        ({"path": "x", "speed": "1"}, "speed"),
        ({"path": "x", "rangebytes": "-1"}, "rangebytes"),
        ({"quorum": "h:99999"}, "h:99999"),
        ({"quorum": ","}, "no host:port"),
        ({"quorum": "h:1", "commandConfig": "/nowhere"}, "commandConfig: .*/nowhere"),
        ({"path": "x", "commandConfig": "/nowhere"}, "goes with quorum"),
        ({"watch": "h"}, "'h' is not host:port"),
        ({"watch": "h:1", "watchkey": "k"}, "need watchca"),
    ]
    for options, text in wrong:
        with pytest.raises(OptionError, match=text):
            logs_of(options)
    for text in ("[]", "{", '{"a": -1}', '{"a": "x"}', "3"):
        with pytest.raises(OptionError, match="from must be JSON"):
            progress_of(text)
    assert addresses_of("[::1]:9093, b:1") == (("::1", 9093), ("b", 1))
