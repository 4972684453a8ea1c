"""Access control lists."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from controller.state.tables.acl import Acl
from controller.state.tables.acl_index import AclIndex
from controller.state.tables.table import Table
from records.uuids import uuid_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from controller.state.state import State
    from controller.state.tables.undo import Undo
    from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord

# So many uncommitted changes are taken into the index, hidden, while they are replayed.
STAGED_MIN = 200


class Acls(Table[bytes, Acl]):
    """The ACLs by id, uncommitted ones included; `index` has only the committed ones.

    A decision must not rest on a change that may be undone, so the index takes a change when it is stable.
    """

    __slots__ = (
        "_counts", "_index", "_is_loading", "_is_mixed", "_is_touched", "_pending", "_stable",
        "_staged",
    )  # fmt: skip

    def __init__(self, undo: Undo, name: str) -> None:
        super().__init__(undo, name)
        # ACL -> how many ids it has; Kafka gives it one.
        self._counts: dict[Acl, int] = {}
        self._index: AclIndex | None = None
        self._is_loading = False
        # The ids whose last change the index may not have yet, with its offset. Kept only once there is an index.
        self._pending: dict[bytes, int] = {}
        # Whether these offsets may not be ascending, or an id may have several changes that the index has not: then
        # what is stable is looked up in the undo log, if one was added, or became stable, since the last time.
        self._is_mixed = False
        self._is_touched = False
        self._stable = -1
        # Changes, not stable yet, that the index has already, hidden: of offsets below all of `_pending`.
        self._staged: dict[bytes, int] = {}

    def index(self) -> AclIndex | None:
        """The committed ACLs by resource. None while the first snapshot of this process is being loaded."""
        index = self._index
        if self._is_loading:
            return index
        if index is None:
            index = self._index = AclIndex()
            self._touch_all()
        if self._staged and not self._show_if_stable(index):
            return index  # nor is any of `_pending` stable
        if self._pending:
            self._settle(index, self.log.undo.stable)
        return index

    def has(self, acl: Acl) -> bool:
        """Whether the ACL has an id, committed or not."""
        return acl in self._counts

    def put(self, key: bytes, value: Acl) -> None:
        self._count(self.get(key), value)
        super().put(key, value)
        self._touch(key)

    def remove(self, key: bytes) -> Acl:
        value = super().remove(key)
        self._count(value, None)
        self._touch(key)
        return value

    def swap(self, key: bytes, value: Acl | None) -> Acl | None:
        old = super().swap(key, value)
        self._count(old, value)
        if self._staged:
            self._unstage()
        self._touch(key)
        return old

    def reset(self) -> None:
        """Forget all values; the index keeps what it has until the snapshot is loaded whole."""
        super().reset()
        self._counts.clear()
        self._is_loading = True
        self._pending.clear()
        self._staged.clear()

    def freeze(self) -> None:
        """Decisions rest on the ACLs of now until `thaw`: records of a batch are replayed, but not all of them yet."""
        if self._staged:
            self._unstage()
        index = self.index()
        self._is_loading = True
        if index is not None:
            index.hide()

    def prepare(self) -> None:
        """Take what was replayed since `freeze` into the index, hidden, so that `thaw` need not do it at once."""
        if self._index is not None and self._pending and not self.log.uncommitted:
            self._settle(self._index, self.log.undo.offset + 1)

    def thaw(self) -> None:
        self._is_loading = False
        if self._index is not None:
            self._index.show()

    def settle(self) -> None:
        """The snapshot was loaded whole."""
        self._is_loading = False
        self._pending.clear()
        if self._index is not None:
            self._index = AclIndex()
            self._touch_all()

    def _count(self, old: Acl | None, new: Acl | None) -> None:
        counts = self._counts
        if new is not None:
            counts[new] = counts.get(new, 0) + 1
        if old is not None:
            counts[old] -= 1
            if not counts[old]:
                del counts[old]

    def _touch(self, key: bytes) -> None:
        index = self._index
        if index is None:
            return
        self._is_mixed = self._is_mixed or key in self._pending or key in self._staged
        self._is_touched = True
        self._pending[key] = self.log.undo.offset
        if len(self._pending) >= STAGED_MIN and self.log.undo.recording and not (self._is_mixed or self._is_loading):
            self._stage(index)

    def _stage(self, index: AclIndex) -> None:
        """Take uncommitted changes into the index, hidden: of very many, this is done while they are replayed, and not
        by the first decision after the commit.
        """
        if not self._staged:
            self._settle(index, self.log.undo.stable)
            index.hide()
        self._staged.update(self._pending)
        self._take(index, self._pending)
        self._pending = {}

    def _show_if_stable(self, index: AclIndex) -> bool:
        """Show the staged changes if all of them are stable. If some are, all wait again, to be looked up. Returns
        whether nothing is staged now.
        """
        stable = self.log.undo.stable
        first, last = next(iter(self._staged.values())), next(reversed(self._staged.values()))
        if first < stable <= last:
            self._unstage()
        elif last < stable:
            self._staged = {}
            index.show()
        return not self._staged

    def _unstage(self) -> None:
        """The index has to be compared with the state: staged changes were undone, or only some of them are stable."""
        self._pending = {**self._staged, **self._pending}
        self._staged = {}
        self._is_mixed = self._is_touched = True

    def _touch_all(self) -> None:
        self._pending = dict.fromkeys(self, -1)
        self._is_mixed = self._is_touched = bool(self)

    def _settle(self, index: AclIndex, below: int) -> None:
        """Take changes of offsets below `below`, which are stable, into the index."""
        if self._is_mixed:
            self._look_up_and_settle(index)
            return
        pending = self._pending
        keys = [key for key, _ in takewhile(lambda change: change[1] < below, pending.items())]
        if len(keys) == len(pending):
            self._pending = {}
        else:
            for key in keys:
                del pending[key]
        self._take(index, keys)

    def _take(self, index: AclIndex, keys: Collection[bytes]) -> None:
        index.put_all(zip(keys, map(self.get, keys), strict=True))

    def _look_up_and_settle(self, index: AclIndex) -> None:
        stable = self.log.undo.stable
        if stable == self._stable and not self._is_touched:
            return
        pending, uncommitted = self._pending, self.log.uncommitted
        # An ACL may be committed while its removal is not: until then it counts.
        before = self.log.undo.first_olds(self.log) if uncommitted else {}
        self._pending = {key: offset for key, offset in pending.items() if key in uncommitted}
        index.put_all([(key, before[key] if key in uncommitted else self.get(key)) for key in pending])
        if not self._is_loading:
            index.show()
        self._is_mixed = bool(self._pending)
        self._is_touched = False
        self._stable = stable


def replay_access_control_entry(state: State, record: AccessControlEntryRecord, _offset: int) -> None:
    acl = Acl(
        record.resource_type,
        record.resource_name,
        record.pattern_type,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )
    state.acls.put(record.id, acl)


def replay_remove_access_control_entry(state: State, record: RemoveAccessControlEntryRecord, _offset: int) -> None:
    if record.id not in state.acls:
        raise ValueError(f"there is no ACL with id {uuid_text(record.id)}")
    state.acls.remove(record.id)
