"""The index of ACLs finds what a scan of all ACLs finds."""

from __future__ import annotations

from random import Random

from controller.state.tables.acl import Acl, PatternType
from controller.state.tables.acl_index import AclIndex

NAMES = ("a", "ab", "abc", "b", "*", "ba")
PRINCIPALS = ("User:ann", "User:*", "User:bob")


def random_acl(rng: Random) -> Acl:
    pattern = rng.choice((PatternType.LITERAL, PatternType.PREFIXED))
    return Acl(rng.choice((2, 3)), rng.choice(NAMES), int(pattern), rng.choice(PRINCIPALS), "*", rng.randrange(2, 9), 3)


def covers(acl: Acl, resource_type: int, name: str) -> bool:
    if acl.resource_type != resource_type:
        return False
    if acl.pattern_type == PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name == name or (acl.resource_name == "*" and not name.startswith("*"))


def found(index: AclIndex, resource_type: int, name: str) -> list[Acl]:
    return sorted(acl for pattern in index.patterns(resource_type, name) for acls in pattern.values() for acl in acls)


def test_the_index_finds_what_a_scan_of_all_acls_finds() -> None:
    rng = Random(7)
    acls: dict[bytes, Acl] = {}
    index = AclIndex()
    for _ in range(2000):
        id_ = bytes([rng.randrange(40)])
        acl = random_acl(rng) if rng.random() < 0.6 else None
        index.put_all([(id_, acl)])
        if acl is None:
            acls.pop(id_, None)
        else:
            acls[id_] = acl
        name = rng.choice((*NAMES, "abcd", "c", ""))

        assert found(index, 2, name) == sorted(acl for acl in acls.values() if covers(acl, 2, name))
        assert len(index) == len(acls)
        for principal in PRINCIPALS:
            allowing = {
                (acl.host, acl.operation) for acl in acls.values() if acl[0] == 2 and acl.principal == principal
            }
            assert set(index.allowing(2, principal)) == allowing


def test_the_index_keeps_nothing_of_removed_acls() -> None:
    rng = Random(3)
    index = AclIndex()
    for number in range(50):
        index.put_all([(bytes([number]), random_acl(rng))])
    for number in range(50):
        index.put_all([(bytes([number]), None)])

    assert [list(index.patterns(type_, "abc")) for type_ in (2, 3)] == [[], []]
    assert [list(index.allowing(2, principal)) for principal in PRINCIPALS] == [[], [], []]
    assert len(index) == 0


def test_what_is_put_while_changes_are_hidden_shows_at_once_later() -> None:
    rng = Random(5)
    index = AclIndex()

    def view(of: AclIndex) -> list[object]:
        patterns = [found(of, type_, name) for type_ in (2, 3) for name in (*NAMES, "abcd", "c")]
        return [*patterns, *(set(of.allowing(type_, name)) for type_ in (2, 3) for name in PRINCIPALS)]

    acls: dict[bytes, Acl | None] = {}
    for _ in range(60):
        before = view(index)
        index.hide()
        for _ in range(rng.randrange(12)):
            id_, acl = bytes([rng.randrange(20)]), random_acl(rng) if rng.random() < 0.5 else None
            acls[id_] = acl
            index.put_all([(id_, acl)])
            assert view(index) == before
        index.show()
        plain = AclIndex()
        plain.put_all(acls.items())
        assert view(index) == view(plain)
