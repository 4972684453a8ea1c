"""The fixtures of the tests against stock Kafka."""

from __future__ import annotations

from tests.interop.conftest import stock

__all__ = ["stock"]
