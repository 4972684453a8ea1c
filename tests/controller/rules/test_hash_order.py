"""The orders of Java's hash tables, compared with those of a JVM."""

from __future__ import annotations

from controller.rules.hash_order import first_partition
from records.java.java_order import hash_code, hash_order


def test_a_string_hashes_as_in_java():
    assert hash_code("") == 0
    assert hash_code("metadata.version") == 0x417E0919
    assert hash_code("ä€😀") == 0xFD57AB


def test_the_first_partition_is_that_of_a_timeline_hash_map():
    # As 4.3.1 took the replication factor, by the number of partitions.
    first = {count: first_partition(range(count)) for count in range(1, 101)}

    assert [count for count in range(1, 34) if first[count] == 0] == [1, 2, 5, *range(10, 14), *range(21, 34)]
    assert {first[count] for count in (3, 4)} == {2}
    assert {first[count] for count in range(6, 10)} == {5}
    assert {first[count] for count in range(16, 21)} == {13}
    assert {first[count] for count in range(48, 65)} == {34}
    assert first[100] == 89
    assert first_partition(()) is None


def test_names_are_in_the_order_of_a_hash_map():
    assert hash_order(["min.insync.replicas", "cordoned.log.dirs"]) == [
        "cordoned.log.dirs",
        "min.insync.replicas",
    ]
    assert hash_order(["share.version", "metadata.version", "group.version"]) == [
        "group.version",
        "share.version",  # in one bucket with the next, and added before it
        "metadata.version",
    ]
    assert " ".join(hash_order([f"k{number}" for number in range(40)])) == (
        "k31 k30 k11 k33 k10 k32 k13 k35 k12 k34 k15 k37 k14 k36 k17 k39 k16 k38 k19 k18 k0 k1 k2 k3 k20 k4 k5 k22 k6 "
        "k21 k7 k24 k8 k23 k9 k26 k25 k28 k27 k29"
    )
    assert hash_order(["a", "a"]) == ["a"]
