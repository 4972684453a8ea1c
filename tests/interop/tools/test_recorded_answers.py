"""What stock's tools say is what was recorded of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.controller.tools.cases import cases
from tests.interop.tools.stock_calls import answered

if TYPE_CHECKING:
    from tests.interop.stock import Stock


def test_stock_still_says_what_was_recorded(stock: Stock) -> None:
    now = answered(stock)

    assert {name: cases(name) for name in now} == now
