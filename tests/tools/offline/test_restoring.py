"""The directories of a node are made from a backup, as of an offset; nothing that is there is overwritten."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from controller.config.node import NodeConfig
from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.voters import VoterSet, voters_record
from raft.storage.files import OsFiles
from raft.storage.log import LogLimits
from raft.storage.meta_properties import MetaProperties, write_meta_properties
from raft.storage.names import snapshot_name
from raft.storage.opening import open_partition
from raft.storage.snapshot_file import SnapshotBytes
from records.batch import build_batch, build_control_batch
from records.control import KRaftVersionRecord
from records.control_batch import encode_control
from tests.tools.offline.stock_directories import PARTITION, SEGMENT, stock_directory
from tools.offline import restoring
from tools.offline.backups import Manifest, save_directory, verify_backup
from tools.offline.examined import Examined, examine
from tools.offline.replayed import Replay
from tools.offline.restoring import CannotRestore, plan_restoring, restore

if TYPE_CHECKING:
    from pathlib import Path


def config(tmp_path: Path, **changes: str) -> NodeConfig:
    """The configuration of node 7, which has two directories."""
    keys = {
        "process.roles": "controller",
        "node.id": "7",
        "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "listeners": "CONTROLLER://127.0.0.1:9093",
        "log.dirs": f"{tmp_path}/data,{tmp_path}/metadata",
        "metadata.log.dir": f"{tmp_path}/metadata",
        **{name.replace("_", "."): value for name, value in changes.items()},
    }
    return NodeConfig({key: value for key, value in keys.items() if value})


def saved(tmp_path: Path, name: str) -> tuple[str, Manifest, Examined]:
    backup = f"{tmp_path}/backup"
    save_directory(examine(str(stock_directory(tmp_path, name))), backup, 5)
    return (backup, *verify_backup(backup))


def test_a_node_with_dynamic_voters_is_the_only_voter_of_the_restored_log(tmp_path: Path) -> None:
    plan = plan_restoring(*saved(tmp_path, "4.3-dynamic/node-1"), config(tmp_path), 58, None)

    restore(plan, Random(7).getrandbits, 1_700_000_000_000)

    found = examine(f"{tmp_path}/metadata")
    data = (tmp_path / "data" / "meta.properties").read_text()
    opened = open_partition(OsFiles(), found.directory, LogLimits())
    assert found.mark is not None
    assert found.mark[:3] == (1, plan.cluster_id, 7)
    assert found.voters is not None
    assert [(voter.key.id, voter.key.directory_id) for voter in found.voters] == [(7, found.mark.directory_id)]
    assert (found.end_offset, found.epoch, plan.lost) == (59, 1001, 0)
    assert "node.id=7" in data
    assert opened.notes == []


def test_a_log_is_restored_as_of_an_offset(tmp_path: Path) -> None:
    backup, manifest, whole = saved(tmp_path, "4.3-static/node-1")
    expected = Replay(whole).run(600).state.contents()
    static = config(
        tmp_path, controller_quorum_bootstrap_servers="", controller_quorum_voters="7@127.0.0.1:9093"
    )  # fmt: skip

    plan = plan_restoring(backup, manifest, whole, static, 600, None)
    restore(plan, Random(7).getrandbits, 0)

    found = examine(f"{tmp_path}/metadata")
    assert (plan.end_offset, plan.lost, found.end_offset, found.fault) == (580, 459, 580, None)
    assert Replay(found).run().state.contents() == expected
    assert verify_backup(backup)[1].end_offset == 1039


def upgraded(tmp_path: Path) -> tuple[str, Manifest, Examined]:
    """A backup of a log with static voters whose kraft.version was raised to 1 by a batch at 1039 and 1040."""
    directory = stock_directory(tmp_path)
    voters = VoterSet([Voter(ReplicaKey(1, bytes([1] * 16)), (Endpoint("CONTROLLER", "127.0.0.1", 9093),), (0, 1))])
    found = examine(str(directory))
    upgrade = [encode_control(KRaftVersionRecord(version=0, kraft_version=1)), encode_control(voters_record(voters))]
    with (directory / SEGMENT).open("ab") as log:
        log.write(build_control_batch(upgrade, base_offset=found.end_offset, leader_epoch=found.epoch, timestamp_ms=0))
    after = examine(str(directory))
    assert (found.end_offset, after.end_offset, after.kraft_versions) == (1039, 1041, ((1039, 1),))
    backup = f"{tmp_path}/backup"
    save_directory(after, backup, 5)
    return (backup, *verify_backup(backup))


@pytest.mark.parametrize(("as_of", "end_offset", "kraft_version"), [(1039, 1039, 0), (1040, 1039, 0), (1041, 1041, 1)])
def test_an_offset_before_the_upgrade_of_kraft_version_restores_static_voters(
    tmp_path: Path, as_of: int, end_offset: int, kraft_version: int
) -> None:
    saved_log = upgraded(tmp_path)
    static = config(
        tmp_path, controller_quorum_bootstrap_servers="", controller_quorum_voters="7@127.0.0.1:9093"
    )  # fmt: skip

    plan = plan_restoring(*saved_log, static, as_of, None)
    restore(plan, Random(7).getrandbits, 0)

    found = examine(f"{tmp_path}/metadata")
    assert (plan.kraft_version, plan.end_offset, bool(plan.endpoints)) == (kraft_version, end_offset, kraft_version > 0)
    assert (found.kraft_version, found.end_offset) == (kraft_version, end_offset + kraft_version)
    assert ([] if found.voters is None else list(found.voters.ids)) == [7] * kraft_version
    assert found.election is not None
    assert found.election.epoch == plan.new_epoch


def test_an_offset_before_the_upgrade_of_kraft_version_needs_a_configuration_with_static_voters(tmp_path: Path) -> None:
    with pytest.raises(CannotRestore, match=r"set controller\.quorum\.voters"):
        plan_restoring(*upgraded(tmp_path), config(tmp_path), 1040, None)


def test_the_kraft_version_is_that_of_the_offset_although_a_newer_checkpoint_has_it_too(tmp_path: Path) -> None:
    backup, manifest, whole = upgraded(tmp_path)
    with (tmp_path / "backup" / SEGMENT).open("ab") as log:
        log.write(build_batch([b"later"], base_offset=1041, leader_epoch=whole.epoch, timestamp_ms=0))
    parts = SnapshotBytes(whole.epoch, 0)
    newer = tmp_path / "backup" / PARTITION / snapshot_name(1042, whole.epoch)
    assert whole.voters is not None
    newer.write_bytes(parts.header(0, 1, voters_record(whole.voters)) + parts.footer())

    found = examine(backup)
    plan = plan_restoring(backup, manifest, found, config(tmp_path), 1041, None)

    assert found.snapshots[-1] == (1042, whole.epoch)
    assert (plan.end_offset, plan.kraft_version, plan.new_kraft_version) == (1041, 1, 1)
    with pytest.raises(CannotRestore, match=r"set controller\.quorum\.voters"):
        plan_restoring(backup, manifest, found, config(tmp_path), 1039, None)


@pytest.mark.parametrize("there", ["metadata/__cluster_metadata-0", "data/meta.properties", "metadata/meta.properties"])
def test_directories_with_anything_of_a_node_in_them_are_refused(tmp_path: Path, there: str) -> None:
    (tmp_path / there).mkdir(parents=True)

    with pytest.raises(CannotRestore, match="is restored into empty directories only"):
        plan_restoring(*saved(tmp_path, "4.3-dynamic/node-1"), config(tmp_path), 58, None)


def test_a_backup_with_static_voters_needs_a_configuration_with_them(tmp_path: Path) -> None:
    with pytest.raises(CannotRestore, match=r"set controller\.quorum\.voters"):
        plan_restoring(*saved(tmp_path, "4.3-static/node-1"), config(tmp_path), 1039, None)


def test_an_interrupted_restore_leaves_a_directory_that_is_not_formatted_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_restoring(*saved(tmp_path, "4.3-dynamic/node-1"), config(tmp_path), 58, None)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("tools.offline.restoring.force_voter", full)
        with pytest.raises(OSError, match="No space left"):
            restore(plan, Random(7).getrandbits, 0)
    assert not (tmp_path / "metadata" / "meta.properties").exists()
    assert not (tmp_path / "metadata" / "__cluster_metadata-0").exists()
    restore(plan, Random(7).getrandbits, 0)

    assert examine(f"{tmp_path}/metadata").end_offset == 59


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("data", ["data", "other-data"])  # sorts before the metadata directory, or behind it
@pytest.mark.parametrize("written", [0, 1])
def test_a_restore_that_was_killed_before_its_last_files_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, data: str
) -> None:
    backup = saved(tmp_path, "4.3-dynamic/node-1")
    node = config(tmp_path, log_dirs=f"{tmp_path}/metadata,{tmp_path}/{data}")
    real = write_meta_properties
    done: list[str] = []

    def kill(files: OsFiles, directory: str, mark: MetaProperties, time_s: int) -> None:
        if len(done) == written:
            raise Killed
        done.append(directory)
        real(files, directory, mark, time_s)

    with monkeypatch.context() as patched:
        patched.setattr(restoring, "write_meta_properties", kill)
        with pytest.raises(Killed):
            restore(plan_restoring(*backup, node, 58, None), Random(7).getrandbits, 0)
    assert done == [f"{tmp_path}/{data}"][:written]
    assert (tmp_path / "metadata" / "__cluster_metadata-0").exists()

    restore(plan_restoring(*backup, node, 58, None), Random(8).getrandbits, 0)

    assert examine(f"{tmp_path}/metadata").end_offset == 59
    assert sorted(path.name for path in (tmp_path / "metadata").iterdir()) == [
        "__cluster_metadata-0",
        "meta.properties",
    ]
    with pytest.raises(CannotRestore, match="into empty directories only"):
        plan_restoring(*backup, node, 58, None)


def test_the_directory_of_another_node_is_no_leftover_of_a_restore(tmp_path: Path) -> None:
    for name in ("data", "metadata"):
        (tmp_path / name).mkdir()
    (tmp_path / "metadata" / "restore.unfinished").touch()
    other = MetaProperties(1, "A" * 22, 7, bytes(15) + b"x")
    write_meta_properties(OsFiles(), str(tmp_path / "data"), other, 0)

    with pytest.raises(CannotRestore, match=r"data/meta\.properties is there"):
        plan_restoring(*saved(tmp_path, "4.3-dynamic/node-1"), config(tmp_path), 58, None)


def test_an_offset_before_the_first_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRestore, match="as of offset 0 there is no record"):
        plan_restoring(*saved(tmp_path, "4.3-dynamic/node-1"), config(tmp_path), 0, None)


def test_a_backup_of_a_checkpoint_alone_is_restored(tmp_path: Path) -> None:
    """Of a node that crashed between the rename of a downloaded checkpoint and the reset of its log."""
    directory = stock_directory(tmp_path)
    segment = directory / "__cluster_metadata-0" / "00000000000000000000.log"
    segment.unlink()
    backup = f"{tmp_path}/backup"
    save_directory(examine(str(directory)), backup, 5)
    manifest, found = verify_backup(backup)
    static = config(tmp_path, controller_quorum_bootstrap_servers="", controller_quorum_voters="7@127.0.0.1:9093")

    restore(plan_restoring(backup, manifest, found, static, found.end_offset, None), Random(7).getrandbits, 0)

    opened = open_partition(OsFiles(), f"{tmp_path}/metadata/__cluster_metadata-0", LogLimits())
    assert (opened.recovered.log_start, opened.recovered.log_end) == (712, 712)
    opened.log.close()


def test_static_voters_become_dynamic_where_the_configuration_names_others(tmp_path: Path) -> None:
    backup, manifest, whole = saved(tmp_path, "4.3-static/node-1")
    static = config(
        tmp_path, controller_quorum_bootstrap_servers="", controller_quorum_voters="7@a:9093,8@b:9093,9@c:9093"
    )  # fmt: skip

    plan = plan_restoring(backup, manifest, whole, static, 1039, None)
    restore(plan, Random(7).getrandbits, 0)

    found = examine(f"{tmp_path}/metadata")
    assert (plan.kraft_version, plan.new_kraft_version, plan.others) == (0, 1, (8, 9))
    assert (found.kraft_version, found.fault) == (1, None)
    assert found.mark is not None
    assert found.voters is not None
    assert [(voter.key.id, voter.key.directory_id) for voter in found.voters] == [(7, found.mark.directory_id)]
    assert Replay(found).run().state.contents() == Replay(whole).run().state.contents()


def test_a_whole_restore_is_no_leftover_though_the_mark_of_one_is_there(tmp_path: Path) -> None:
    source = saved(tmp_path, "4.3-dynamic/node-1")
    restore(plan_restoring(*source, config(tmp_path), 58, None), Random(7).getrandbits, 0)
    (tmp_path / "metadata" / "restore.unfinished").write_text("x")

    with pytest.raises(CannotRestore, match="is there; a backup is restored into empty directories only"):
        plan_restoring(*source, config(tmp_path), 58, None)


def test_a_partition_beside_an_interrupted_restore_is_no_leftover_of_it(tmp_path: Path) -> None:
    source = saved(tmp_path, "4.3-dynamic/node-1")
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "restore.unfinished").write_text("x")
    (tmp_path / "data" / PARTITION).mkdir(parents=True)

    with pytest.raises(CannotRestore, match=f"data/{PARTITION} is there"):
        plan_restoring(*source, config(tmp_path), 58, None)
