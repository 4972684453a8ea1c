"""Sessions of brokers on the active controller: last contact and published metadata offset of each (KIP-631).

Sessions are not in the log: a new active controller makes them from the registrations, and every unfenced broker starts
with a full session timeout.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.interface.results import Item
    from controller.state.state import State

NO_OFFSET = -1
LARGEST_OFFSET = 9223372036854775807
_OF_REGISTRATIONS = frozenset({RegisterBrokerRecord, UnregisterBrokerRecord, BrokerRegistrationChangeRecord})


@dataclass(slots=True)
class Session:
    """One registered broker, as of its last heartbeat.

    metadata_offset: up to where it has applied the metadata log. shutdown_offset: of the last record by which it left
    ISRs in its controlled shutdown, NO_OFFSET where none is under way.
    """

    broker_id: int
    fenced: bool
    metadata_offset: int = NO_OFFSET
    shutdown_offset: int = NO_OFFSET
    # Of the session that expired last; for people, no rule depends on it.
    expired_contact_ms: int | None = None

    @property
    def is_shutting_down(self) -> bool:
        return self.shutdown_offset >= 0

    @property
    def is_active(self) -> bool:
        return not self.fenced and not self.is_shutting_down


class Sessions:
    """The sessions of all registered brokers. Times are monotonic milliseconds.

    leaving: the brokers in controlled shutdown that have ISRs left to leave, each with the row of the next.
    usable: the brokers that may get replicas (`controller.rules.placement.Usable`); None after a change of a
    registration or session. With 10,000 brokers, making them takes longer than all else of CreateTopics.
    """

    __slots__ = ("_brokers", "_contacts", "_left", "leaving", "timeout_ms", "usable")

    def __init__(self, timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms
        self._brokers: dict[int, Session] = {}
        # (broker id, broker epoch) -> last contact, the oldest first. A fenced broker that still sends heartbeats has a
        # contact too, so no other process can register with its id; that of a former incarnation expires.
        self._contacts: OrderedDict[tuple[int, int], int] = OrderedDict()
        # The expired session whose partitions leave the broker in several steps, its contact, and the next row.
        self._left: tuple[tuple[int, int], int | None, int] | None = None
        self.leaving: dict[int, int] = {}
        self.usable: Any = None

    def __iter__(self) -> Iterator[Session]:
        """All sessions, by ascending broker id."""
        return iter([self._brokers[broker_id] for broker_id in sorted(self._brokers)])

    def follow(self, state: State, items: Iterable[Item]) -> None:
        """Take over what these records, which the state has, have changed in registrations."""
        # Without a call for each: a request may have 10,000 records, and no pause is possible here.
        for record in [item[0] for item in items if item.__class__ is tuple and item[0].__class__ in _OF_REGISTRATIONS]:
            self.usable = None
            if isinstance(record, RegisterBrokerRecord):
                self.remove(record.broker_id)
                self.register(record.broker_id, fenced=record.fenced)
            elif isinstance(record, UnregisterBrokerRecord):
                self.remove(record.broker_id)
            elif isinstance(record, BrokerRegistrationChangeRecord):
                self.register(record.broker_id, fenced=state.brokers[record.broker_id].fenced)

    def get(self, broker_id: int) -> Session | None:
        return self._brokers.get(broker_id)

    def record_contact(self, broker_id: int, broker_epoch: int, now_ms: int) -> None:
        """A heartbeat of the broker of this epoch arrived. now_ms: never less than before."""
        self._contacts[broker_id, broker_epoch] = now_ms
        self._contacts.move_to_end((broker_id, broker_epoch))

    def contact_ms(self, broker_id: int, broker_epoch: int) -> int | None:
        """The time of the last heartbeat of the broker of this epoch; None without one, or if the session expired."""
        return self._contacts.get((broker_id, broker_epoch))

    def is_valid(self, broker_id: int, broker_epoch: int, now_ms: int) -> bool:
        """Whether a heartbeat of the broker arrived within the session timeout."""
        contact_ms = self._contacts.get((broker_id, broker_epoch))
        return contact_ms is not None and not self._is_expired(contact_ms, now_ms)

    def find_expired(self, now_ms: int) -> tuple[int, int] | None:
        """The (broker id, broker epoch) with the oldest contact, if its session has expired; else None."""
        for oldest, contact_ms in self._contacts.items():
            return oldest if self._is_expired(contact_ms, now_ms) else None
        return None

    def last_contact_ms(self, broker_id: int, broker_epoch: int) -> int | None:
        """As `contact_ms`, also after the session expired; None without a heartbeat since this node leads."""
        session = self._brokers.get(broker_id)
        before_ms = None if session is None else session.expired_contact_ms
        return self._contacts.get((broker_id, broker_epoch), before_ms)

    def forget_contact(self, broker_id: int, broker_epoch: int) -> None:
        contact_ms = self._contacts.pop((broker_id, broker_epoch), None)
        session = self._brokers.get(broker_id)
        if session is not None and contact_ms is not None:
            session.expired_contact_ms = contact_ms

    def left_below(self, broker_id: int, broker_epoch: int) -> int:
        """The row below which the partitions have left the broker since its session expired; 0 without such steps."""
        session = broker_id, broker_epoch
        if self._left is None or self._left[:2] != (session, self._contacts.get(session)):
            return 0
        return self._left[2]

    def leave_below(self, broker_id: int, broker_epoch: int, row: int) -> None:
        """The partitions in rows below this one have left the broker, whose session has expired."""
        session = broker_id, broker_epoch
        self._left = session, self._contacts.get(session), row

    @property
    def has_steps(self) -> bool:
        """Whether a further step of a broker that leaves its partitions is due now."""
        return bool(self.leaving) or (self._left is not None and self.left_below(*self._left[0]) > 0)

    def next_expiry_ms(self) -> int | None:
        """The time, in ms, when the first session expires unless heartbeats arrive; None where there is no session."""
        for contact_ms in self._contacts.values():
            return contact_ms + self.timeout_ms + 1
        return None

    def register(self, broker_id: int, *, fenced: bool) -> None:
        """The broker has registered, or its registration changed.

        A change that leaves `fenced` as the session has it makes the metadata offset unknown until the next heartbeat,
        as `BrokerHeartbeatManager.register` does; brokers in controlled shutdown wait for that heartbeat.
        """
        session = self._brokers.get(broker_id)
        if session is None:
            self._brokers[broker_id] = Session(broker_id, fenced)
            self.usable = None
        else:
            offset = NO_OFFSET if session.fenced == fenced else session.metadata_offset
            self.touch(broker_id, fenced=fenced, metadata_offset=offset)

    def touch(self, broker_id: int, *, fenced: bool, metadata_offset: int) -> None:
        """A heartbeat was handled: set the broker's metadata offset, and whether it is fenced."""
        session = self._brokers[broker_id]
        session.metadata_offset = metadata_offset
        if session.fenced != fenced:
            session.fenced = fenced
            self.usable = None
        if fenced:
            session.shutdown_offset = NO_OFFSET
            self.leaving.pop(broker_id, None)

    def start_shutdown(self, broker_id: int, offset: int, next_row: int | None = None) -> None:
        """The controlled shutdown of the broker started at this offset. Later calls do not change it (KIP-841).

        next_row: as for `leave`.
        """
        session = self._brokers[broker_id]
        assert not session.fenced, f"fenced broker {broker_id} cannot enter controlled shutdown"
        if session.shutdown_offset < 0:
            self.leave(broker_id, offset, next_row)

    def leave(self, broker_id: int, offset: int, next_row: int | None) -> None:
        """A broker in controlled shutdown left ISRs, by records up to this offset.

        next_row: where the partitions begin whose ISRs it has still to leave; None where there are none.
        """
        self._brokers[broker_id].shutdown_offset = offset
        self.usable = None
        if next_row is None:
            self.leaving.pop(broker_id, None)
        else:
            self.leaving[broker_id] = next_row

    def remove(self, broker_id: int) -> None:
        self.usable = None
        self._brokers.pop(broker_id, None)
        self.leaving.pop(broker_id, None)

    def lowest_active_offset(self) -> int:
        """The least metadata offset of the active brokers; LARGEST_OFFSET where none is active."""
        return min((s.metadata_offset for s in self._brokers.values() if s.is_active), default=LARGEST_OFFSET)

    def shutting_down(self) -> Iterable[int]:
        """The brokers in controlled shutdown, ascending."""
        return [session.broker_id for session in self if session.is_shutting_down]

    def _is_expired(self, contact_ms: int, now_ms: int) -> bool:
        return contact_ms + self.timeout_ms < now_ms
