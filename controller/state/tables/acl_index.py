"""ACLs by resource pattern, for decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.state.tables.acl import WILDCARD, PatternType, Permission

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.state.tables.acl import Acl

# Principal as `Type:Name` -> the ACLs of one resource pattern.
OfPattern = dict[str, list["Acl"]]


class AclIndex:
    """A set of ACLs, by id and by resource pattern.

    A decision looks up one key for the literal name, one for the wildcard, and one for each length that names of
    prefixed ACLs of the type have: its cost does not grow with the number of ACLs.
    """

    __slots__ = ("_allowing", "_by_id", "_literal", "_prefix_lengths", "_prefixed")

    def __init__(self) -> None:
        self._by_id: dict[bytes, Acl] = {}
        self._literal: dict[tuple[int, str], OfPattern] = {}
        self._prefixed: dict[tuple[int, str], OfPattern] = {}
        # Resource type -> length of names -> number of prefixed patterns.
        self._prefix_lengths: dict[int, dict[int, int]] = {}
        # Resource type and principal -> host and operation of the ACLs that allow -> their number.
        self._allowing: dict[tuple[int, str], dict[tuple[str, int], int]] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def put(self, id_: bytes, acl: Acl | None) -> None:
        """Set the ACL of this id; None removes it."""
        if self._by_id.get(id_) == acl:
            return
        old = self._by_id.pop(id_, None)
        if old is not None:
            self._drop(old)
        if acl is not None:
            self._by_id[id_] = acl
            self._add(acl)

    def patterns(self, resource_type: int, name: str) -> Iterator[OfPattern]:
        """The ACLs of each pattern that covers a resource: its literal name, prefixes of it, the wildcard."""
        literal = self._literal
        found = literal.get((resource_type, name))
        if found is not None:
            yield found
        lengths = self._prefix_lengths.get(resource_type)
        if lengths is not None:
            prefixed = self._prefixed
            for length in lengths:
                if length <= len(name):
                    found = prefixed.get((resource_type, name[:length]))
                    if found is not None:
                        yield found
        # As in stock, the wildcard does not cover a name that begins with it.
        if not name.startswith(WILDCARD):
            found = literal.get((resource_type, WILDCARD))
            if found is not None:
                yield found

    def allowing(self, resource_type: int, principal: str) -> Iterable[tuple[str, int]]:
        """The hosts and operations that ACLs of a principal allow, on some resource of a type, each pair once."""
        return self._allowing.get((resource_type, principal), ())

    def _add(self, acl: Acl) -> None:
        if acl.permission_type == Permission.ALLOW:
            pairs = self._allowing.setdefault((acl.resource_type, acl.principal), {})
            pair = acl.host, acl.operation
            pairs[pair] = pairs.get(pair, 0) + 1
        is_prefixed = acl.pattern_type == PatternType.PREFIXED
        patterns = self._prefixed if is_prefixed else self._literal
        key = acl.resource_type, acl.resource_name
        of_pattern = patterns.get(key)
        if of_pattern is None:
            of_pattern = patterns[key] = {}
            if is_prefixed:
                lengths = self._prefix_lengths.setdefault(acl.resource_type, {})
                length = len(acl.resource_name)
                lengths[length] = lengths.get(length, 0) + 1
        of_pattern.setdefault(acl.principal, []).append(acl)

    def _drop(self, acl: Acl) -> None:
        if acl.permission_type == Permission.ALLOW:
            pairs, pair = self._allowing[acl.resource_type, acl.principal], (acl.host, acl.operation)
            pairs[pair] -= 1
            if not pairs[pair]:
                del pairs[pair]
            if not pairs:
                del self._allowing[acl.resource_type, acl.principal]
        is_prefixed = acl.pattern_type == PatternType.PREFIXED
        patterns = self._prefixed if is_prefixed else self._literal
        key = acl.resource_type, acl.resource_name
        of_pattern = patterns[key]
        of_principal = of_pattern[acl.principal]
        of_principal.remove(acl)
        if of_principal:
            return
        del of_pattern[acl.principal]
        if of_pattern:
            return
        del patterns[key]
        if is_prefixed:
            lengths, length = self._prefix_lengths[acl.resource_type], len(acl.resource_name)
            lengths[length] -= 1
            if not lengths[length]:
                del lengths[length]
