"""A disk keeps all synced data, and a random part of the rest."""

from __future__ import annotations

import errno
from random import Random

import pytest

from simulations.world.disk import SECTOR_BYTES, Disk, Inode
from simulations.world.files import Dead, SimFiles, kind_of


def files(disk: Disk) -> SimFiles:
    return SimFiles(disk, lambda _operation, _kind: None, lambda: None)


def fresh() -> tuple[Disk, SimFiles]:
    disk = Disk()
    disk.directories.add("d")
    return disk, files(disk)


def write(on: SimFiles, path: str, data: bytes, position: int = 0) -> int:
    handle = on.open(path, create=True)
    on.write(handle, position, data)
    return handle


def named(data: bytes) -> tuple[Disk, SimFiles, int, Inode]:
    """A file d/a whose name is on disk, and its bytes not yet; with its handle."""
    disk, on = fresh()
    handle = write(on, "d/a", data)
    on.sync_directory("d")
    return disk, on, handle, disk.files["d/a"]


def after_power_failures(disk: Disk, path: str, *, journal: bool = True, times: int = 300) -> set[bytes | None]:
    """The possible contents of a file after a power failure; None if it is missing."""
    found: set[bytes | None] = set()
    for seed in range(times):
        copy = clone(disk)
        copy.lose_power(Random(seed), journal=journal)
        inode = copy.files.get(path)
        found.add(None if inode is None else bytes(inode.data))
    return found


def clone(disk: Disk) -> Disk:
    from copy import deepcopy

    return deepcopy(disk)


def test_a_file_synced_with_its_name_survives_any_power_failure() -> None:
    disk, on = fresh()
    on.sync(write(on, "d/a", b"kept"))
    on.sync_directory("d")

    assert after_power_failures(disk, "d/a") == {b"kept"}


def test_a_name_that_was_not_synced_may_survive_or_not() -> None:
    disk, on = fresh()
    on.sync(write(on, "d/a", b"kept"))

    assert after_power_failures(disk, "d/a") == {b"kept", None}


def test_unsynced_bytes_survive_in_part_and_torn() -> None:
    disk, on = fresh()
    handle = write(on, "d/a", b"kept")
    on.sync(handle)
    on.sync_directory("d")
    on.write(handle, 4, b"NEWER")

    found = after_power_failures(disk, "d/a")

    assert {b"kept", b"keptNEWER", b"keptN"} <= found
    assert all(each is not None and each.startswith(b"kept") for each in found)


def test_sectors_survive_by_themselves_and_leave_zeros() -> None:
    disk, on = fresh()
    handle = write(on, "d/a", b"")
    on.sync_directory("d")
    on.write(handle, 0, b"x" * (2 * SECTOR_BYTES))

    found = after_power_failures(disk, "d/a")

    assert bytes(SECTOR_BYTES) + b"x" * SECTOR_BYTES in found


def test_without_a_sync_between_them_the_later_of_two_files_may_survive_alone() -> None:
    disk, on = fresh()
    first, second = write(on, "d/a", b"1"), write(on, "d/b", b"")
    on.sync_directory("d")
    on.write(second, 0, b"2")

    both = set()
    for seed in range(300):
        copy = clone(disk)
        copy.lose_power(Random(seed))
        both.add((bytes(copy.files["d/a"].data), bytes(copy.files["d/b"].data)))

    assert (b"", b"2") in both
    assert (b"1", b"") in both
    assert first != second


def test_a_rename_without_a_sync_of_the_directory_may_not_have_happened() -> None:
    disk, on = fresh()
    on.sync(write(on, "d/a", b"old"))
    on.sync_directory("d")
    on.sync(write(on, "d/a.tmp", b"new"))
    on.rename("d/a.tmp", "d/a")

    assert after_power_failures(disk, "d/a") == {b"old", b"new"}


def test_a_rename_ahead_of_the_bytes_may_leave_an_empty_file() -> None:
    disk, on = fresh()
    on.sync(write(on, "d/a", b"old"))
    on.sync_directory("d")
    write(on, "d/a.tmp", b"new")
    on.rename("d/a.tmp", "d/a")
    on.sync_directory("d")

    assert b"" in after_power_failures(disk, "d/a")


def test_without_a_journal_names_change_in_any_order() -> None:
    disk, on = fresh()
    write(on, "d/a", b"")
    write(on, "d/b", b"")

    def names(*, journal: bool) -> set[tuple[str, ...]]:
        found = set()
        for seed in range(200):
            copy = clone(disk)
            copy.lose_power(Random(seed), journal=journal)
            found.add(tuple(sorted(copy.files)))
        return found

    assert names(journal=True) == {(), ("d/a",), ("d/a", "d/b")}
    assert names(journal=False) == {(), ("d/a",), ("d/b",), ("d/a", "d/b")}


def test_a_killed_process_leaves_the_page_cache_behind() -> None:
    disk, on = fresh()
    write(on, "d/a", b"never synced")
    on.die()

    found = files(disk)

    assert found.read(found.open("d/a"), 0, 100) == b"never synced"


def test_a_process_that_ended_cannot_access_files() -> None:
    _, on = fresh()
    handle = write(on, "d/a", b"x")
    on.die()

    with pytest.raises(Dead):
        on.read(handle, 0, 1)


def test_a_sync_does_not_cover_writes_made_while_it_runs() -> None:
    disk = Disk()
    disk.directories.add("d")
    handles: list[int] = []

    def meanwhile() -> None:
        if handles:
            on.write(handles[0], 1, b"B")

    on = SimFiles(disk, lambda _operation, _kind: None, meanwhile)
    handle = write(on, "d/a", b"A")
    handles.append(handle)

    on.sync(handle)

    assert bytes(disk.files["d/a"].synced) == b"A"


def test_a_failed_sync_loses_its_writes() -> None:
    disk = Disk()
    disk.directories.add("d")

    def fail(operation: str, _kind: str) -> None:
        if operation == "sync":
            raise OSError(errno.EIO, "made to fail")

    on = SimFiles(disk, fail, lambda: None)
    handle = write(on, "d/a", b"lost")
    with pytest.raises(OSError, match="made to fail"):
        on.sync(handle)

    healthy = files(disk)
    healthy.sync(healthy.open("d/a"))

    assert bytes(disk.files["d/a"].synced) == b""


def test_a_write_to_a_full_disk_is_partial_and_fails() -> None:
    disk, on = fresh()
    disk.full = True
    handle = on.open("d/a", create=True)

    with pytest.raises(OSError, match="no space") as raised:
        on.write(handle, 0, b"12345678")

    assert (raised.value.errno, on.size(handle)) == (errno.ENOSPC, 4)


def test_a_flipped_bit_is_read_until_it_is_overwritten() -> None:
    disk, on = fresh()
    handle = write(on, "d/a", b"\x00\x00")
    disk.files["d/a"].rot[1] = 4

    rotten = on.read(handle, 0, 2)
    on.write(handle, 1, b"\x00")

    assert (rotten, on.read(handle, 0, 2)) == (b"\x00\x04", b"\x00\x00")


def test_files_are_known_by_their_names() -> None:
    assert [kind_of(f"d/{name}") for name in ("0.log", "quorum-state", "5-1.checkpoint", "meta.properties")] == [
        "log", "election", "snapshot", "other",
    ]  # fmt: skip


def test_writes_lost_by_a_failed_sync_reach_the_disk_only_with_later_writes_to_their_sectors() -> None:
    disk, on, handle, inode = named(b"a" * (SECTOR_BYTES + 88))
    inode.lose(inode.written)
    on.write(handle, SECTOR_BYTES + 88, b"b" * 10)

    found = after_power_failures(disk, "d/a")

    assert bytes(SECTOR_BYTES) + b"a" * 88 + b"b" * 10 in found
    assert not any(each and b"b" in each and each[SECTOR_BYTES : SECTOR_BYTES + 88] != b"a" * 88 for each in found)


def test_writes_made_during_a_failed_sync_also_carry_lost_bytes_of_their_sectors() -> None:
    disk, on, handle, inode = named(b"a" * 100)
    before = inode.written
    on.write(handle, 100, b"b" * 10)
    inode.lose(before)

    found = after_power_failures(disk, "d/a")

    assert b"a" * 100 + b"b" * 10 in found
    assert bytes(100) + b"b" * 10 not in found


def test_a_failed_sync_does_not_lose_the_size_and_later_bytes_follow_it() -> None:
    _, on, handle, inode = named(b"A" * 100 + b"B" * 300)
    on.sync(handle)
    on.truncate(handle, 100)
    on.write(handle, 100, b"C" * 50)
    inode.lose(inode.written)
    on.write(handle, 150, b"D" * 50)

    inode.settle(inode.written)

    assert bytes(inode.synced) == b"A" * 100 + b"C" * 50 + b"D" * 50


def test_a_later_write_that_is_truncated_leaves_no_larger_file() -> None:
    _, on, handle, inode = named(b"A" * 1000)
    before = inode.written
    on.write(handle, 1000, b"B" * 100)
    on.truncate(handle, 300)
    inode.lose(before)

    inode.settle(inode.written)

    assert len(inode.synced) == 300


def test_a_process_reads_what_a_failed_sync_lost_until_its_pages_are_dropped() -> None:
    _, on, handle, inode = named(b"A" * 1000)
    on.sync(handle)
    on.write(handle, 1000, b"B" * 1000)
    inode.lose(inode.written)
    on.sync(handle)
    before = on.read(handle, 0, 3000)

    on.drop_clean(handle)

    assert before == b"A" * 1000 + b"B" * 1000
    assert on.read(handle, 0, 3000) == b"A" * 1000 + bytes(1000)


def test_dropped_pages_leave_what_no_sync_has_covered() -> None:
    _, on, handle, _ = named(b"A" * 100)
    on.write(handle, 50, b"B" * 100)
    on.truncate(handle, 120)

    on.drop_clean(handle)

    assert on.read(handle, 0, 1000) == b"A" * 50 + b"B" * 70


def test_a_sync_that_fails_with_nothing_to_write_changes_nothing() -> None:
    _, on, handle, inode = named(b"a" * 100)
    on.sync(handle)
    inode.lose(inode.written)

    on.write(handle, 100, b"b")

    assert inode.writes[-1].position == 100
