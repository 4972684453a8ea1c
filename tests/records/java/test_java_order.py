"""The order of Java's maps."""

from records.java.java_order import hash_order, integer_order, partition_order, union_order, uuid_order
from records.uuids import parse_uuid


def test_names_are_in_the_order_of_a_java_hash_map() -> None:
    """As a `java.util.HashMap` of these keys iterates in Java 17."""
    few = ["/a", "/b", "/c", "/data/kafka", "/var/lib/kafka/data", "ü", "/mnt/disk-1", "/mnt/disk-2", "/mnt/disk-10"]
    many = [f"/disk{number}" for number in range(20)]

    assert hash_order(few) == [
        "/a", "/b", "/mnt/disk-10", "/c", "/mnt/disk-2", "/data/kafka", "/mnt/disk-1", "ü", "/var/lib/kafka/data",
    ]  # fmt: skip
    assert hash_order(many) == [
        f"/disk{number}" for number in (2, 3, 0, 1, 14, 13, 8, 12, 9, 11, 6, 10, 7, 4, 5, 19, 18, 17, 16, 15)
    ]


def test_a_map_made_for_few_entries_has_fewer_buckets() -> None:
    assert hash_order(["user", "client-id"], 3) == ["client-id", "user"]
    assert hash_order(["user", "user"], 1) == ["user"]


def test_uuids_come_in_the_order_of_kafkas_hash() -> None:
    """As a `java.util.HashMap` of these `Uuid`s iterates in Java 17."""
    ids = [
        parse_uuid(text)
        for text in (
            "uwNZvy01y1gWmBpDnKAc4A", "fSjZFPHp28p2Ovab04kJRw", "ctdYNG10jFKynUaOwKjXLw", "RxvCF1iC5EHCjMrI1s4tFA",
            "OCBoVHZhfM7roECCu0WHYg",
        )
    ]  # fmt: skip

    assert uuid_order(ids) == [ids[place] for place in (1, 2, 3, 0, 4)]
    assert uuid_order([ids[0], ids[0]]) == [ids[0]]


def test_partitions_and_numbers_come_in_the_order_of_their_java_hashes() -> None:
    """As a `java.util.HashMap` of these `TopicPartition`s, or `Integer`s, iterates in Java 17."""
    partitions = [(topic, index) for topic in ("t", "orders", "ü", "a.b-c") for index in range(4)]

    assert [f"{topic}-{index}" for topic, index in partition_order(partitions)] == [
        "a.b-c-0", "a.b-c-3", "a.b-c-1", "a.b-c-2", "t-3", "t-2", "t-1", "t-0", "orders-0", "orders-1", "ü-3",
        "orders-2", "ü-2", "orders-3", "ü-1", "ü-0",
    ]  # fmt: skip
    assert integer_order([101, 102, 1, 2, 3, 16, 33, -1, 1000, 70000]) == [16, -1, 1, 33, 70000, 2, 3, 101, 102, 1000]


def test_numbers_of_two_lists_come_in_the_order_of_a_set_made_from_the_first() -> None:
    assert union_order((), (3, 1, 2)) == [1, 2, 3]
    assert union_order((17,), (2, 16, 1)) == [16, 17, 1, 2]
    assert union_order((), (33, 17, 1)) == [33, 17, 1]
    assert union_order((), range(100, 113)) == list(range(100, 113))
    assert union_order((65536,), (2, 1)) == [65536, 1, 2]
