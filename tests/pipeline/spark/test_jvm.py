"""The JVM of a short session has room for what all its stages are compiled to."""

from __future__ import annotations

from typing import Any

MIB = 1 << 20


def test_a_short_session_has_as_much_room_for_compiled_code_as_a_long_one(spark: Any) -> None:
    pools = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    room = {each.getName(): each.getUsage().getMax() for each in pools if each.getName().startswith("Code")}

    assert sum(room.values()) >= 240 * MIB, room
