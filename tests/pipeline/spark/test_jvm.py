"""The JVM of a short session has a code cache large enough for all its stages."""

from __future__ import annotations

from typing import Any

MIB = 1 << 20


def test_a_short_session_has_the_default_code_cache_of_a_long_one(spark: Any) -> None:
    pools = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    room = {each.getName(): each.getUsage().getMax() for each in pools if each.getName().startswith("Code")}

    assert sum(room.values()) >= 240 * MIB, room
