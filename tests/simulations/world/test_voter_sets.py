"""Voter sets are read from the batches of logs; two sets are compared by their majorities."""

from __future__ import annotations

from records.batch import build_batch, build_control_batch
from records.control import KRaftVersionRecord, VotersRecord
from records.control_batch import encode_control
from records.uuids import ZERO_UUID
from simulations.world.chains import EMPTY, ChainedLog, Chains
from simulations.world.voter_sets import Voters, VoterSets, share_majorities, with_room

ONE, TWO, THREE, FOUR = ((node_id, bytes([node_id]) * 16) for node_id in (1, 2, 3, 4))


def voters(*keys: tuple[int, bytes]) -> Voters:
    return Voters(keys, tuple(f"node-{node_id}" for node_id, _ in keys))


def record(*keys: tuple[int, bytes]) -> VotersRecord:
    return VotersRecord(
        version=0,
        voters=tuple(
            VotersRecord.Voter(
                voter_id=node_id,
                voter_directory_id=directory,
                endpoints=(VotersRecord.Voter.Endpoint(name="CONTROLLER", host=f"node-{node_id}", port=9093),),
                kraft_version_feature=VotersRecord.Voter.KRaftVersionFeature(
                    min_supported_version=0, max_supported_version=1
                ),
            )
            for node_id, directory in keys
        ),
    )


def test_a_prefix_has_the_set_and_the_level_of_its_newest_records() -> None:
    chains = Chains()
    log = ChainedLog(chains)
    static = voters((1, ZERO_UUID), (2, ZERO_UUID))
    sets = VoterSets(chains, static, 0)
    log.add(0, 1, 1, build_batch([b"x"], base_offset=0, leader_epoch=1, timestamp_ms=0))
    before = log.last
    records = [encode_control(KRaftVersionRecord(version=0, kraft_version=1)), encode_control(record(ONE, TWO, THREE))]
    log.add(1, 3, 1, build_control_batch(records, base_offset=1, leader_epoch=1, timestamp_ms=0))
    log.add(3, 4, 1, build_batch([b"y"], base_offset=3, leader_epoch=1, timestamp_ms=0))

    found = sets.at(log.last)

    assert (sets.at(EMPTY), sets.at(before), sets.level(before)) == (static, static, 0)
    assert (found.keys, found.offset, sets.level(log.last)) == ((ONE, TWO, THREE), 2, 1)
    assert found.hosts == ("node-1", "node-2", "node-3")
    assert sets.all == [static, found]


def test_an_entry_without_a_directory_holds_every_directory_of_its_id() -> None:
    assert voters((1, ZERO_UUID)).holds(ONE)
    assert not voters(TWO).holds((2, b"\7" * 16))


def test_sets_that_differ_by_one_voter_share_majorities_and_others_may_not() -> None:
    assert share_majorities(voters(ONE, TWO, THREE), voters(ONE, TWO, THREE, FOUR))
    assert share_majorities(voters(ONE, TWO), voters(ONE))
    assert not share_majorities(voters(ONE, TWO, THREE), voters(ONE, FOUR))
    assert not share_majorities(voters(ONE), voters(TWO))


def test_a_disk_may_be_lost_where_each_set_keeps_a_majority() -> None:
    assert with_room([voters(ONE, TWO, THREE)], {THREE})
    assert not with_room([voters(ONE, TWO, THREE), voters(ONE, TWO)], {TWO})
