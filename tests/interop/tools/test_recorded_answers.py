"""Stock's tools still print the recorded output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interop.tools.stock_calls import answered
from tests.tools.kafka.cases import cases

if TYPE_CHECKING:
    from tests.interop.stock import Stock


@pytest.mark.parametrize("stock", ["4.4.0"], indirect=True)
def test_stock_still_prints_the_recorded_answers(stock: Stock) -> None:
    now = answered(stock)

    assert {name: cases(name) for name in now} == now
