"""Sessions of brokers: BrokerHeartbeatManagerTest's and BrokerHeartbeatTrackerTest's cases."""

import pytest

from controller.interface.sessions import LARGEST_OFFSET, Session, Sessions


def sessions(*broker_ids, timeout_ms=100):
    found = Sessions(timeout_ms)
    for broker_id in broker_ids:
        found.register(broker_id, fenced=False)
    return found


def test_a_session_is_valid_for_its_broker_and_epoch_until_its_time_has_passed():
    s = sessions(1)
    s.record_contact(1, 7, 1000)

    assert [s.is_valid(1, 7, now_ms) for now_ms in (999, 1000, 1100, 1101)] == [True, True, True, False]
    assert (s.is_valid(1, 8, 1000), s.is_valid(2, 7, 1000)) == (False, False)


def test_the_session_with_the_oldest_contact_expires_first():
    s = sessions(1, 2)
    assert (s.find_expired(10**9), s.next_expiry_ms()) == (None, None)
    s.record_contact(1, 7, 980)
    s.record_contact(2, 8, 990)
    s.record_contact(1, 7, 1000)

    assert (s.find_expired(1090), s.next_expiry_ms()) == (None, 1091)
    assert s.find_expired(1200) == (2, 8)
    s.forget_contact(2, 8)
    assert (s.find_expired(1200), s.next_expiry_ms()) == ((1, 7), 1101)
    s.forget_contact(1, 7)
    assert s.find_expired(1200) is None


def test_the_lowest_offset_is_that_of_active_brokers():
    s = sessions(1, 2, 3, 4)
    assert s.lowest_active_offset() == -1
    for broker_id, offset in ((1, 50), (2, 40), (3, 30), (4, 20)):
        s.touch(broker_id, fenced=broker_id == 4, metadata_offset=offset)
    s.start_shutdown(3, 60)

    assert s.lowest_active_offset() == 40
    for broker_id in (1, 2):
        s.touch(broker_id, fenced=True, metadata_offset=99)
    assert s.lowest_active_offset() == LARGEST_OFFSET


def test_the_offset_of_a_shutdown_is_set_once_and_ends_with_fencing():
    s = sessions(1)

    s.start_shutdown(1, 50)
    s.start_shutdown(1, 60)
    assert (s.get(1).shutdown_offset, list(s.shutting_down())) == (50, [1])
    s.touch(1, fenced=True, metadata_offset=7)
    assert s.get(1) == Session(1, True, 7, -1)


def test_a_shutdown_in_steps_has_the_offset_of_its_last_step_and_no_further_step_when_the_broker_is_fenced_or_gone():
    s = sessions(1, 2, 3)
    for broker_id in (1, 2, 3):
        s.start_shutdown(broker_id, 50, 7)
        s.start_shutdown(broker_id, 55)

    s.leave(1, 60, 9)
    assert (s.get(1).shutdown_offset, s.leaving, s.has_steps) == (60, {1: 9, 2: 7, 3: 7}, True)
    s.leave(1, 70, None)
    s.touch(2, fenced=True, metadata_offset=7)
    s.remove(3)
    assert (s.get(1).shutdown_offset, s.leaving, s.has_steps) == (70, {}, False)


def test_a_step_of_an_expired_broker_is_due_until_the_broker_is_heard_or_fenced():
    s = sessions(1)
    s.record_contact(1, 7, 1000)
    assert not s.has_steps

    s.leave_below(1, 7, 5)
    assert s.has_steps
    s.record_contact(1, 7, 1200)
    assert not s.has_steps
    s.leave_below(1, 7, 5)
    s.forget_contact(1, 7)
    assert not s.has_steps


def test_a_fenced_broker_cannot_enter_controlled_shutdown():
    s = sessions(1)
    s.touch(1, fenced=True, metadata_offset=7)

    with pytest.raises(AssertionError):
        s.start_shutdown(1, 50)


def test_a_changed_registration_keeps_the_offset():
    s = sessions(1)
    s.touch(1, fenced=False, metadata_offset=7)

    s.register(1, fenced=True)

    assert s.get(1) == Session(1, True, 7, -1)


def test_a_changed_registration_of_a_broker_that_stays_as_it_is_makes_its_offset_unknown():
    s = sessions(1)
    s.touch(1, fenced=False, metadata_offset=7)

    s.register(1, fenced=False)

    assert s.get(1) == Session(1, False, -1, -1)


def test_an_unregistered_broker_has_no_session_to_update():
    with pytest.raises(KeyError):
        sessions().touch(1, fenced=False, metadata_offset=7)


def test_sessions_are_listed_by_broker_id():
    s = sessions(3, 1, 2)
    s.remove(2)

    assert [session.broker_id for session in s] == [1, 3]
