"""`kraftctl features preflight` lists every node that blocks a level, where a refused upgrade names one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from records.batch import build_batch
from records.errors import Error
from records.frame import encode_record
from records.java.config_error import ConfigError
from records.messages.features import UpdateFeaturesRequest
from records.metadata.brokers import RegisterControllerRecord
from tests.controller.server.processes import free_port, running
from tests.tools.offline.stock_directories import SEGMENT, stock_directory
from tools.client.connection import Connection
from tools.client.quorum import Member, View
from tools.kraftctl.cluster.features import blocking, run, wanted_level
from tools.kraftctl.cluster.wait import run as wait
from tools.kraftctl.points.places import Place, read
from tools.kraftctl.points.points import Reading

if TYPE_CHECKING:
    from pathlib import Path

GHOST = 77
REGISTERED_MS = 1_795_300_000_000


def with_ghost(tmp_path: Path) -> Path:
    """A directory of stock in whose log an old controller is registered that is no voter."""
    directory = stock_directory(tmp_path)
    feature = RegisterControllerRecord.ControllerFeature
    record = RegisterControllerRecord(
        controller_id=GHOST, incarnation_id=bytes(15) + b"\1", zk_migration_ready=False, end_points=(),
        features=(feature(name="metadata.version", min_supported_version=7, max_supported_version=25),),
    )  # fmt: skip
    value = encode_record(record, 0)
    with (directory / SEGMENT).open("ab") as file:
        file.write(build_batch([value], base_offset=1039, leader_epoch=2, timestamp_ms=REGISTERED_MS))
    return directory


def test_a_controller_that_is_gone_is_named_with_its_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = str(with_ghost(tmp_path))

    assert run(["preflight", "4.3", "--directory", directory, "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["feature"], said["level"], said["current_level"]) == ("metadata.version", 30, 30)
    assert [(each["kind"], each["node_id"], each["supported"], each["registered_ms"]) for each in said["blocking"]] == [
        ("controller", GHOST, "7-25", REGISTERED_MS)
    ]

    assert run(["preflight", "group.version=1", "--directory", directory]) == 2
    assert "controller 77 (not a voter of the log) supports group.version none" in capsys.readouterr().out


def test_the_leader_says_whether_a_controller_is_gone(tmp_path: Path) -> None:
    image = read(Place(directory=str(with_ghost(tmp_path))), Reading(), "test")
    member = Member(GHOST, "", 10, 1_000, 1_000)
    without = View("c", 1, 2, 10, {1: member._replace(id=1)}, {}, ("a", 1))

    (gone,) = blocking(image, without, "metadata.version", 30)
    (observer,) = blocking(image, without._replace(observers={GHOST: member}), "metadata.version", 30)

    assert (gone.role, gone.last_seen_ms) == ("neither voter nor observer", -1)
    assert (observer.role, observer.last_seen_ms) == ("observer", 1_000)
    assert gone.remedy == f"if it is gone: kraftctl controllers prune --id {GHOST}"


def test_a_live_quorum_is_checked_before_it_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    with running(tmp_path, port):
        assert wait(["-c", str(tmp_path / "controller.properties")]) == 0
        update = UpdateFeaturesRequest.FeatureUpdateKey(feature="share.version", max_version_level=9, upgrade_type=1)
        with Connection("127.0.0.1", port, "test") as connection:
            answer = connection.ask(
                UpdateFeaturesRequest(timeout_ms=5000, feature_updates=(update,), validate_only=True)
            )
        assert answer.error_code != Error.NONE or answer.results[0].error_code != Error.NONE

        where = ["--bootstrap-controller", f"127.0.0.1:{port}"]
        assert run(["preflight", "share.version=9", *where]) == 2
        assert "controller 1 (voter) supports share.version " in capsys.readouterr().out
        assert run(["preflight", "4.4", *where]) == 0


@pytest.mark.parametrize("text", ["9.9", "", "group.version", "group.version=x", "nothing=1", "metadata.version=2"])
def test_what_is_no_level_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="a release such as"):
        wanted_level(text)
