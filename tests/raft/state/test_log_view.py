from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raft.interface.config import SnapshotId
from raft.state.log_view import NOWHERE, EpochEnd, LogView
from tests.raft.building import log, snapshot


def view(end: int, *epochs: tuple[int, int], start: int = 0, snapshots: tuple[SnapshotId, ...] = ()) -> LogView:
    return LogView(log(end, *epochs, start=start, snapshots=tuple(snapshot(*each) for each in snapshots)))


def two_epochs() -> LogView:
    """Offsets 0 to 4 of epoch 1, and 5 and 6 of epoch 2."""
    return view(7, (1, 0), (2, 5))


# Validation


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (7, 2, None),
        (5, 1, None),
        (0, 0, None),
        (0, 9, None),
        (8, 2, EpochEnd(7, 2)),
        (6, 1, EpochEnd(5, 1)),
        (7, 9, EpochEnd(7, 2)),
        (3, 0, EpochEnd(0, 0)),
    ],
)
def test_a_log_without_snapshots_says_where_another_diverges(
    offset: int, epoch: int, expected: EpochEnd | None
) -> None:
    assert two_epochs().validate(offset, epoch) == expected


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (9, 2, SnapshotId(20, 3)),  # before the start
        (10, 2, None),  # at the start, as the snapshot ends
        (10, 3, SnapshotId(20, 3)),  # at the start, with another epoch
        (15, 1, SnapshotId(20, 3)),  # with an epoch before that of the oldest snapshot
        (15, 2, EpochEnd(12, 2)),
        (12, 2, None),
        (30, 3, EpochEnd(25, 3)),
        (25, 3, None),
        (25, 4, EpochEnd(25, 3)),
    ],
)
def test_a_replica_below_the_log_start_needs_the_newest_snapshot(
    offset: int, epoch: int, expected: EpochEnd | SnapshotId | None
) -> None:
    trimmed = view(25, (2, 10), (3, 12), start=10, snapshots=((10, 2), (20, 3)))

    assert trimmed.validate(offset, epoch) == expected


def test_an_unknown_epoch_between_two_known_ends_where_the_lower_one_does() -> None:
    assert view(20, (1, 0), (5, 10)).validate(15, 3) == EpochEnd(10, 1)


def test_the_end_of_an_epoch_at_the_oldest_snapshot_is_that_snapshot() -> None:
    trimmed = view(20, (3, 10), start=10, snapshots=((10, 2),))

    assert trimmed.end_of_epoch(2) == EpochEnd(10, 2)
    assert trimmed.end_of_epoch(1) == EpochEnd(10, 2)


def test_an_empty_log_has_the_epoch_of_its_snapshot() -> None:
    assert view(0).last_epoch == 0
    assert view(10, start=10, snapshots=((10, 4),)).last_epoch == 4


@pytest.mark.parametrize(
    ("epoch", "end_offset", "expected"),
    [(2, 7, True), (2, 6, False), (2, 8, True), (3, 0, True), (1, 100, False)],
)
def test_a_log_is_up_to_date_by_its_last_epoch_and_then_by_its_length(
    epoch: int, end_offset: int, expected: bool
) -> None:
    assert two_epochs().is_up_to_date(epoch, end_offset) is expected


# Truncation


@pytest.mark.parametrize(
    ("diverging", "expected"),
    [
        (EpochEnd(3, 0), 3),
        (EpochEnd(9, 0), 7),
        (EpochEnd(6, 2), 6),
        (EpochEnd(9, 2), 7),
        (EpochEnd(4, 1), 4),
        (EpochEnd(6, 1), 5),
        (EpochEnd(6, 3), 7),
    ],
)
def test_a_log_is_truncated_to_the_part_shared_with_the_leader(diverging: EpochEnd, expected: int) -> None:
    assert two_epochs().truncation(diverging) == expected


def test_truncation_drops_the_epochs_that_begin_after_it() -> None:
    cut = two_epochs()

    assert cut.truncate(5) == (1, True)
    assert (cut.end, cut.epochs) == (5, [(1, 0)])


def test_truncation_drops_an_epoch_that_was_assigned_without_data() -> None:
    cut = two_epochs()
    cut.assign(4)

    assert cut.truncate(7) == (1, True)
    assert (cut.end, cut.epochs) == (7, [(1, 0), (2, 5)])


def test_committed_records_are_never_truncated() -> None:
    cut = two_epochs()
    cut.commit(6)

    with pytest.raises(AssertionError):
        cut.truncate(5)


def test_the_committed_offset_never_decreases() -> None:
    cut = two_epochs()
    cut.commit(6)

    cut.commit(3)

    assert cut.committed == 6


# Epochs


def test_an_append_of_a_new_epoch_is_remembered() -> None:
    grown = two_epochs()

    assert grown.append(9, 2) == (1, False)
    assert grown.append(10, 5) == (2, True)
    assert grown.epochs == [(1, 0), (2, 5), (5, 9)]


def test_an_epoch_assigned_without_data_gives_way_to_the_next() -> None:
    grown = two_epochs()

    assert grown.assign(3)
    assert not grown.assign(3)
    assert grown.assign(4)
    assert grown.epochs == [(1, 0), (2, 5), (4, 7)]


def test_epochs_do_not_go_back() -> None:
    with pytest.raises(AssertionError):
        two_epochs().append(9, 1)


def test_an_append_leaves_no_gap_and_no_overlap() -> None:
    with pytest.raises(AssertionError):
        two_epochs().append(7, 2)


# Durability


def test_the_durable_end_follows_the_flushes() -> None:
    grown = two_epochs()
    grown.append(9, 2)
    grown.append(12, 2)

    grown.on_flushed(1, -1, -1)
    after_first = grown.durable_end
    grown.on_flushed(2, 12, 500)

    assert (after_first, grown.durable_end, grown.bytes, grown.is_flushed) == (9, 12, 500, True)


def test_one_flush_covers_all_operations_up_to_its_number() -> None:
    grown = two_epochs()
    grown.append(9, 2)
    grown.append(12, 2)

    grown.on_flushed(2, -1, -1)
    grown.on_flushed(1, -1, -1)

    assert grown.durable_end == 12


def test_a_flush_of_truncated_records_does_not_count_as_durable() -> None:
    """The log grew to 10, was cut to 8 and grew to 9 otherwise; then the first flush comes."""
    grown = two_epochs()
    grown.append(10, 2)
    grown.truncate(8)
    grown.append(9, 3)

    durable = []
    for number in (1, 2, 3):
        grown.on_flushed(number, -1, -1)
        durable.append(grown.durable_end)

    assert durable == [8, 8, 9]


def test_while_the_log_is_emptied_nothing_of_it_is_durable() -> None:
    grown = two_epochs()
    grown.append(10, 2)

    number = grown.reset(SnapshotId(50, 4))
    grown.add_snapshot(snapshot(50, 4))
    during = grown.durable_end
    grown.on_flushed(1, -1, -1)
    still = grown.durable_end
    grown.on_flushed(number, -1, -1)

    assert (during, still, grown.durable_end) == (NOWHERE, NOWHERE, 50)
    assert (grown.start, grown.end, grown.epochs, grown.last_epoch) == (50, 50, [], 4)


def test_a_truncation_within_a_batch_removes_the_batch() -> None:
    """The core asked for 6; the disk had a batch around it, and ends at 5."""
    cut = two_epochs()
    number, _ = cut.truncate(6)

    changed = cut.on_flushed(number, 5, -1)

    assert (cut.end, cut.durable_end, cut.epochs, changed) == (5, 5, [(1, 0)], True)


def test_a_flush_that_was_not_ordered_fails_an_assertion() -> None:
    with pytest.raises(AssertionError):
        two_epochs().on_flushed(1, -1, -1)


# The start


def test_the_epoch_around_the_new_start_begins_there() -> None:
    trimmed = two_epochs()
    trimmed.commit(7)

    assert trimmed.advance_start(7) == (1, True)
    assert (trimmed.start, trimmed.epochs) == (7, [(2, 7)])


def test_the_log_does_not_start_above_the_committed_offset() -> None:
    trimmed = two_epochs()
    trimmed.commit(5)

    with pytest.raises(AssertionError):
        trimmed.advance_start(6)


# Snapshots


def test_snapshots_are_in_the_order_of_epoch_and_then_offset() -> None:
    stored = view(30, (1, 0), (2, 15), snapshots=((20, 2), (0, 0), (10, 1)))

    assert [each.id for each in stored.snapshots] == [(0, 0), (10, 1), (20, 2)]
    assert stored.latest_snapshot == snapshot(20, 2)
    assert stored.snapshot(SnapshotId(10, 1)) == snapshot(10, 1)
    assert stored.snapshot(SnapshotId(10, 2)) is None


def test_older_snapshots_are_forgotten_together() -> None:
    stored = view(30, (1, 0), (2, 15), snapshots=((0, 0), (10, 1), (20, 2)))

    assert stored.forget_snapshots_before(SnapshotId(20, 2)) == [(0, 0), (10, 1)]
    assert [each.id for each in stored.snapshots] == [(20, 2)]


def test_records_in_a_snapshot_are_committed() -> None:
    assert view(30, (1, 0), snapshots=((20, 1),)).committed == 20


@pytest.mark.parametrize(
    ("end", "start", "snapshots"), [(10, 5, ()), (10, 5, ((4, 1),)), (10, 11, ()), (10, 0, ((12, 1),))]
)
def test_a_contradictory_directory_fails_an_assertion(end: int, start: int, snapshots: tuple[SnapshotId, ...]) -> None:
    with pytest.raises(AssertionError):
        view(end, (1, start), start=start, snapshots=snapshots)


# A model: each record's epoch, in a list.


@st.composite
def logs(draw: st.DrawFn) -> list[int]:
    """The epoch of each record."""
    runs = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=5))
    epochs, epoch = [], 1  # no leader has epoch 0
    for step, count in runs:
        epoch += step
        epochs += [epoch] * count
    return epochs


def of(epochs: list[int]) -> LogView:
    found = LogView(log(0))
    for offset, epoch in enumerate(epochs):
        found.append(offset + 1, epoch)
    return found


@given(logs())
def test_it_agrees_with_a_list_of_epochs_on_where_each_ends(epochs: list[int]) -> None:
    found = of(epochs)
    for epoch in range(15):
        known = [other for other in epochs if other <= epoch]
        if not epochs or epoch >= epochs[-1]:
            expected = EpochEnd(len(epochs), epochs[-1] if epochs else 0)
        else:
            expected = EpochEnd(len(known), known[-1] if known else epoch)

        assert found.end_of_epoch(epoch) == expected


@given(logs(), logs())
def test_repeated_truncations_lead_to_a_prefix_of_the_leaders_log(leader: list[int], follower: list[int]) -> None:
    """KIP-279, and Raft's log matching: here a record is its epoch, so logs must agree on where an epoch begins."""
    # Records of one epoch come from one leader: make the follower's of a shared epoch begin where the leader's do.
    shared = 0
    while shared < min(len(leader), len(follower)) and leader[shared] == follower[shared]:
        shared += 1
    follower = follower[:shared] + [epoch for epoch in follower[shared:] if epoch not in leader]
    ours, theirs = of(follower), of(leader)

    for _ in range(20):
        diverging = theirs.validate(ours.end, ours.last_epoch)
        if diverging is None:
            break
        assert isinstance(diverging, EpochEnd)
        ours.truncate(ours.truncation(diverging))
        del follower[ours.end :]

    assert diverging is None
    assert follower == leader[: len(follower)]


@given(logs(), logs())
def test_up_to_date_is_a_total_order(one: list[int], other: list[int]) -> None:
    first, second = of(one), of(other)

    is_ahead = first.is_up_to_date(second.last_epoch, second.end)
    is_behind = second.is_up_to_date(first.last_epoch, first.end)

    assert is_ahead or is_behind
    assert (is_ahead and is_behind) == ((first.last_epoch, first.end) == (second.last_epoch, second.end))
