"""ACLs by resource pattern, for decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.state.tables.acl import WILDCARD, PatternType, Permission

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.state.tables.acl import Acl

# As plain numbers: the members of an IntEnum take twice as long to find and to compare.
_ALLOW, _LITERAL, _PREFIXED = int(Permission.ALLOW), int(PatternType.LITERAL), int(PatternType.PREFIXED)
# The map of what principals are allowed, among the maps of patterns.
_PAIRS = -1

# Principal as `Type:Name` -> the ACLs of one resource pattern.
OfPattern = dict[str, list["Acl"]]


class AclIndex:
    """A set of ACLs, by id and by resource pattern.

    A decision looks up one key for the literal name, one for the wildcard, and one for each length that names of
    prefixed ACLs of the type have: its cost does not grow with the number of ACLs.
    """

    __slots__ = ("_allowing", "_before", "_by_id", "_literal", "_prefix_lengths", "_prefixed")

    def __init__(self) -> None:
        self._by_id: dict[bytes, Acl] = {}
        self._literal: dict[tuple[int, str], OfPattern] = {}
        self._prefixed: dict[tuple[int, str], OfPattern] = {}
        # Resource type -> length of names -> number of prefixed patterns.
        self._prefix_lengths: dict[int, dict[int, int]] = {}
        # Resource type and principal -> host and operation of the ACLs that allow -> their number.
        self._allowing: dict[tuple[int, str], dict[tuple[str, int], int]] = {}
        # Since `hide`: what the changed entries of these maps were, by map and key.
        self._before: dict[tuple[int, int, str], Any] | None = None

    def __len__(self) -> int:
        return len(self._by_id)

    def put_all(self, changes: Iterable[tuple[bytes, Acl | None]]) -> None:
        """Set the ACL of each id; None removes it."""
        by_id, literal, prefixed, allowing = self._by_id, self._literal, self._prefixed, self._allowing
        for id_, acl in changes:
            old = by_id.get(id_)
            if old == acl:
                continue
            if old is not None:
                del by_id[id_]
                if self._before is not None:
                    self._keep(self._before, old)
                self._drop(old)
            if acl is None:
                continue
            if self._before is not None:
                self._keep(self._before, acl)
            by_id[id_] = acl
            resource_type, name, pattern_type, principal, host, operation, permission = acl
            if permission == _ALLOW:
                pairs = allowing.get((resource_type, principal))
                if pairs is None:
                    pairs = allowing[resource_type, principal] = {}
                pair = host, operation
                pairs[pair] = pairs.get(pair, 0) + 1
            key = resource_type, name
            patterns = prefixed if pattern_type == _PREFIXED else literal
            of_pattern = patterns.get(key)
            if of_pattern is None:
                patterns[key] = {principal: [acl]}
                if patterns is prefixed:
                    lengths = self._prefix_lengths.setdefault(resource_type, {})
                    length = len(name)
                    lengths[length] = lengths.get(length, 0) + 1
            elif principal in of_pattern:
                of_pattern[principal].append(acl)
            else:
                of_pattern[principal] = [acl]

    def hide(self) -> None:
        """Decisions rest on the ACLs of now until `show`, whatever is put meanwhile."""
        self._before = {}

    def show(self) -> None:
        """Decisions rest on all that was put."""
        self._before = None
        for lengths in self._prefix_lengths.values():
            for length in [length for length, count in lengths.items() if not count]:
                del lengths[length]

    def patterns(self, resource_type: int, name: str) -> Iterator[OfPattern]:
        """The ACLs of each pattern that covers a resource: its literal name, prefixes of it, the wildcard."""
        pattern = self._find(_LITERAL, resource_type, name)
        if pattern is not None:
            yield pattern
        lengths = self._prefix_lengths.get(resource_type)
        if lengths is not None:
            for length in lengths:
                if length <= len(name):
                    pattern = self._find(_PREFIXED, resource_type, name[:length])
                    if pattern is not None:
                        yield pattern
        # As in stock, the wildcard does not cover a name that begins with it.
        if not name.startswith(WILDCARD):
            pattern = self._find(_LITERAL, resource_type, WILDCARD)
            if pattern is not None:
                yield pattern

    def allowing(self, resource_type: int, principal: str) -> Iterable[tuple[str, int]]:
        """The hosts and operations that ACLs of a principal allow, on some resource of a type, each pair once."""
        pairs: Iterable[tuple[str, int]] | None
        if self._before and (_PAIRS, resource_type, principal) in self._before:
            pairs = self._before[_PAIRS, resource_type, principal]
        else:
            pairs = self._allowing.get((resource_type, principal))
        return pairs or ()

    def _find(self, pattern_type: int, resource_type: int, name: str) -> OfPattern | None:
        """The ACLs of one pattern."""
        if self._before and (pattern_type, resource_type, name) in self._before:
            pattern: OfPattern | None = self._before[pattern_type, resource_type, name]
            return pattern
        return (self._prefixed if pattern_type == _PREFIXED else self._literal).get((resource_type, name))

    def _keep(self, before: dict[tuple[int, int, str], Any], acl: Acl) -> None:
        """Keep the entries of an ACL, which are about to change."""
        resource_type, name, pattern_type, principal, _, _, permission = acl
        kind, patterns = (_PREFIXED, self._prefixed) if pattern_type == _PREFIXED else (_LITERAL, self._literal)
        key = kind, resource_type, name
        if key not in before:
            of_pattern = patterns.get((resource_type, name))
            before[key] = of_pattern and {principal: list(acls) for principal, acls in of_pattern.items()}
        if permission == _ALLOW and (key := (_PAIRS, resource_type, principal)) not in before:
            before[key] = tuple(self._allowing.get((resource_type, principal), ()))

    def _drop(self, acl: Acl) -> None:
        resource_type, name, pattern_type, principal, host, operation, permission = acl
        if permission == _ALLOW:
            pairs, pair = self._allowing[resource_type, principal], (host, operation)
            if pairs[pair] > 1:
                pairs[pair] -= 1
            else:
                del pairs[pair]
                if not pairs:
                    del self._allowing[resource_type, principal]
        patterns = self._prefixed if pattern_type == _PREFIXED else self._literal
        of_pattern = patterns[resource_type, name]
        of_principal = of_pattern[principal]
        if len(of_principal) > 1:
            of_principal.remove(acl)
            return
        del of_pattern[principal]
        if of_pattern:
            return
        del patterns[resource_type, name]
        if patterns is self._prefixed:
            lengths, length = self._prefix_lengths[resource_type], len(name)
            lengths[length] -= 1
            if not lengths[length] and self._before is None:
                del lengths[length]
