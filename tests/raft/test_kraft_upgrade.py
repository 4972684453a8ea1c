from __future__ import annotations

from raft.interface.config import ReplicaKey, Voter
from raft.interface.effects import Append, KraftVersionSupport, ProposalRefused
from raft.interface.inputs import Propose, UpgradeKraftVersion
from raft.interface.voters import VoterSet, control_values
from records.batch import read_header
from tests.raft.building import Bench, active, batch, dynamic_voters, endpoint, key, leader, static_voters
from tests.raft.changing import ask, leading, update


def supports(bench: Bench) -> list[KraftVersionSupport]:
    return [each for each in bench.seen if isinstance(each, KraftVersionSupport)]


def reported_by_all() -> Bench:
    bench = active(1)
    ask(bench, update(key(2), endpoint(2)))
    ask(bench, update(key(3), endpoint(3)))
    return bench


def test_a_leader_knows_only_itself_at_first() -> None:
    bench = active(1)

    own = Voter(key(1), (endpoint(1),), (0, 1))
    assert bench.role.state.reported_voters == VoterSet([own, *static_voters(2, 3)])
    assert supports(bench) == [KraftVersionSupport(2, 0)]


def test_all_support_the_level_when_all_have_said_so() -> None:
    bench = reported_by_all()

    assert [each.level for each in supports(bench)] == [0, 0, 1]


def test_a_sole_voter_supports_what_it_supports_itself() -> None:
    bench = Bench(1, static_voters(1))

    assert supports(bench) == [KraftVersionSupport(1, 1)]


def test_with_dynamic_voters_there_is_nothing_to_upgrade() -> None:
    bench = leading(1, 2, 3)

    assert supports(bench) == []
    assert bench.role.state.reported_voters is None


def test_the_upgrade_writes_the_level_and_the_voters_in_one_batch() -> None:
    bench = reported_by_all()

    effects = bench.tell(UpgradeKraftVersion(2, 1, 1))

    written = next(each for each in effects if isinstance(each, Append))
    header = read_header(written.data)
    assert header is not None
    assert control_values(written.data, header) == [(1, 1), (2, dynamic_voters(1, 2, 3))]
    assert (bench.replica.kraft_version, bench.replica.voters) == (1, dynamic_voters(1, 2, 3))
    assert bench.role.state.proposals.next_offset == 3


def test_records_that_were_proposed_before_come_first() -> None:
    bench = active(1, append_linger_ms=25)
    ask(bench, update(key(2), endpoint(2)))
    ask(bench, update(key(3), endpoint(3)))
    bench.tell(Propose(2, 1, 1, batch(1, 2)))

    effects = bench.tell(UpgradeKraftVersion(2, 2, 1))

    assert [(each.base_offset, each.end_offset) for each in effects if isinstance(each, Append)] == [(1, 2), (2, 4)]


def test_an_upgrade_that_is_lost_makes_the_voters_static_again() -> None:
    bench = reported_by_all()
    bench.tell(UpgradeKraftVersion(2, 1, 1))

    bench.replica.truncate(1)

    assert (bench.replica.kraft_version, bench.replica.voters) == (0, static_voters(1, 2, 3))


def test_the_upgrade_is_refused_where_a_voter_does_not_support_it() -> None:
    bench = active(1)
    ask(bench, update(key(2), endpoint(2)))
    ask(bench, update(key(3), endpoint(3), versions=(0, 0)))

    assert bench.tell(UpgradeKraftVersion(2, 1, 1)) == [ProposalRefused(2, 1)]
    assert bench.replica.kraft_version == 0


def test_the_upgrade_is_refused_elsewhere_and_at_other_offsets() -> None:
    bench = reported_by_all()

    assert bench.tell(UpgradeKraftVersion(1, 1, 1)) == [ProposalRefused(1, 1)]
    assert bench.tell(UpgradeKraftVersion(2, 5, 1)) == [ProposalRefused(2, 5)]
    assert leading(1, 2, 3).tell(UpgradeKraftVersion(2, 3, 1)) == [ProposalRefused(2, 3)]


def test_a_new_leader_gets_the_update_again() -> None:
    bench = leader(1, epoch=5)

    assert bench.role.state.reported_voters.get(2) == Voter(ReplicaKey(2), (endpoint(2),))
