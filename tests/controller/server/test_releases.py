"""A node of Kafka 4.4, and one with `kraft.release=4.3`: UnregisterController and levels, running and in files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.controllers import ControllerRegistrationRequest, UnregisterControllerRequest
from records.messages.versions import ApiVersionsRequest
from tests.controller.server.processes import free_port, run_to_end, running, write_properties
from tests.records.golden import GOLDEN
from tools.client.connection import Connection
from tools.kraftctl.main import main
from tools.offline.load import load_image

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

GHOST, WIDENED_GHOST = 77, 78
TOOL = "import sys; from tools.kafka.{} import main; sys.exit(main())"


def registration(node_id: int, highest: int) -> ControllerRegistrationRequest:
    feature = ControllerRegistrationRequest.Feature(
        name="metadata.version", min_supported_version=0, max_supported_version=highest
    )
    return ControllerRegistrationRequest(
        controller_id=node_id, incarnation_id=bytes(15) + bytes([node_id]), zk_migration_ready=False, listeners=(),
        features=(feature,),
    )  # fmt: skip


def ask(port: int, request: Any) -> Any:
    with Connection("127.0.0.1", port, "test") as connection:
        return connection.ask(request)


def tool(name: str, *arguments: str, given: str = "") -> str:
    run = subprocess.run(
        [sys.executable, "-c", TOOL.format(name), *arguments], capture_output=True, text=True, check=True, input=given
    )
    return run.stdout


def test_a_controller_is_unregistered_and_the_files_say_so_after_a_restart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    where = ["-c", str(tmp_path / "controller.properties")]
    with running(tmp_path, port, kraft_audit_log=str(tmp_path / "audit.log")) as node:
        codes = [main(["wait", *where, "--timeout", "20"])]
        for node_id, highest in ((GHOST, 25), (WIDENED_GHOST, 32767), (79, 33)):
            assert ask(port, registration(node_id, highest)).error_code == Error.NONE
        itself = ask(port, UnregisterControllerRequest(controller_id=1))
        unregister = ["controllers", "unregister", *where, "--id", "79"]
        codes += [main([*unregister, "--dry-run"]), main([*unregister, "--yes"]), main([*unregister, "--yes"])]
        codes += [main(["controllers", "prune", *where, "--yes", "--json"])]
        node.terminate()
        node.wait(20)
    said = capsys.readouterr()
    with running(tmp_path, port):
        codes.append(main(["wait", *where, "--timeout", "20"]))
        versions = ask(port, ApiVersionsRequest(client_software_name="test", client_software_version="1"))
        again = ask(port, UnregisterControllerRequest(controller_id=GHOST))

    assert codes == [0, 0, 0, 1, 0, 0]
    assert (itself.error_code, itself.error_message) == (
        Error.INVALID_REQUEST,
        "Controller cannot unregister itself while it is active.",
    )
    assert "UnregisterController for 79 would be sent to the leader" in said.out
    assert "controller 79: it is unregistered" in said.out
    assert "UnregisterController is refused with CONTROLLER_ID_NOT_REGISTERED: Controller ID 79 is not" in said.err
    done = json.loads(said.out.splitlines()[-1])["done"]
    assert done == {str(GHOST): "unregistered", str(WIDENED_GHOST): "unregistered"}
    levels = finalized(versions)
    assert (levels["metadata.version"], levels["share.version"]) == (33, 2)
    assert again.error_code == Error.CONTROLLER_ID_NOT_REGISTERED
    log = tmp_path / "data" / "__cluster_metadata-0" / "00000000000000000000.log"
    # The first records are in the log too, not in the snapshot 0-0 alone: brokers read the log.
    assert not (tmp_path / "data" / "bootstrap.checkpoint").exists()
    level = tool("shell.metadata_shell", "-s", str(log), "cat", "/image/features/metadataVersion")
    assert level == "Optional[4.4-IV2]\n"
    assert set(load_image(str(log)).controllers) == {1}
    shown = tool("shell.metadata_shell", "-s", str(log), "ls", "/image/cluster/controllers")
    assert shown.split() == ["1"]
    dumped = tool("dump_log.dump_log", "--cluster-metadata-decoder", "--files", str(log))
    for node_id in (GHOST, WIDENED_GHOST, 79):
        record = f'{{"type":"UNREGISTER_CONTROLLER_RECORD","version":0,"data":{{"controllerId":{node_id}}}}}'
        assert dumped.count(record) == 1
    audited = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    lines = [line for line in audited if line["api"] == "UnregisterController"]
    assert [(line["outcome"], line.get("error"), line["resources"]) for line in lines] == [
        ("refused", "INVALID_REQUEST", [{"type": "controller", "name": "1"}]),
        ("committed", None, [{"type": "controller", "name": "79"}]),
        ("refused", "CONTROLLER_ID_NOT_REGISTERED", [{"type": "controller", "name": "79"}]),
        ("committed", None, [{"type": "controller", "name": str(GHOST)}]),
        ("committed", None, [{"type": "controller", "name": str(WIDENED_GHOST)}]),
    ]


def test_a_node_of_4_3_knows_neither_the_api_nor_the_levels_of_4_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    where = ["-c", str(tmp_path / "controller.properties")]
    with running(tmp_path, port, kraft_release="4.3"):
        assert main(["wait", *where, "--timeout", "20"]) == 0
        code = main(["controllers", "unregister", *where, "--id", "77", "--yes"])
        versions = ask(port, ApiVersionsRequest(client_software_name="test", client_software_version="1"))

    assert code == 1
    assert "has no UnregisterController: it needs Kafka 4.4" in capsys.readouterr().err
    assert 94 not in {each.api_key for each in versions.api_keys}
    assert {each.name: each.max_version for each in versions.supported_features}["metadata.version"] == 30


def test_a_node_of_4_3_stops_at_the_levels_of_4_4(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port):
        assert main(["wait", "-c", str(tmp_path / "controller.properties"), "--timeout", "20"]) == 0

    ended = run_to_end(write_properties(tmp_path, port, kraft_release="4.3"))

    assert ended.returncode != 0
    assert "metadata.version" in ended.stderr
    assert "33" in ended.stderr


def test_a_directory_of_4_3_stays_at_its_level_until_it_is_upgraded(tmp_path: Path) -> None:
    port = free_port()
    where = ["-c", str(tmp_path / "controller.properties")]
    asked = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    with running(tmp_path, port, kraft_release="4.3"):
        assert main(["wait", *where, "--timeout", "20"]) == 0

    with running(tmp_path, port):
        assert main(["wait", *where, "--timeout", "20"]) == 0
        before = finalized(ask(port, asked))
        address = f"127.0.0.1:{port}"
        upgraded = tool("features", "--bootstrap-controller", address, "upgrade", "--release-version", "4.4")
        after = finalized(ask(port, asked))

    assert (before["metadata.version"], before["share.version"]) == (30, 1)
    assert "metadata.version was upgraded to 33." in upgraded
    assert (after["metadata.version"], after["share.version"]) == (33, 2)


def test_a_directory_that_stock_4_4_formatted_starts_and_its_records_are_in_the_log(tmp_path: Path) -> None:
    port = free_port()
    shutil.copytree(GOLDEN / "4.4-formatted" / "static", tmp_path / "data")

    with running(tmp_path, port):
        assert main(["wait", "-c", str(tmp_path / "controller.properties"), "--timeout", "20"]) == 0
        await_level(port, 33)

    log = tmp_path / "data" / "__cluster_metadata-0" / "00000000000000000000.log"
    level = tool("shell.metadata_shell", "-s", str(log), "cat", "/image/features/metadataVersion")
    assert level == "Optional[4.4-IV2]\n"


def await_level(port: int, level: int) -> None:
    """Wait until the first levels are committed."""
    asked = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    end = time.monotonic() + 20
    while finalized(ask(port, asked)).get("metadata.version") != level:
        assert time.monotonic() < end, "no level"
        time.sleep(0.02)


def finalized(versions: Any) -> dict[str, int]:
    return {each.name: each.max_version_level for each in versions.finalized_features}


def test_the_storage_tool_formats_at_the_levels_of_the_release(tmp_path: Path) -> None:
    arguments = ["format", "-t", "4L6g3nShT-eMCtK--X86sw"]
    of_4_3 = write_properties(tmp_path, 9093, kraft_release="4.3")
    command = [sys.executable, "-c", TOOL.format("storage"), *arguments, "--release-version", "4.4-IV2", "-c"]
    refused = subprocess.run([*command, str(of_4_3)], capture_output=True, text=True, check=False)
    of_4_4 = write_properties(tmp_path, 9093)

    formatted = tool("storage", *arguments, "-c", str(of_4_4))

    assert refused.returncode == 1
    assert "Unknown metadata.version '4.4-IV2'. Supported metadata.version are: 3.3-IV3" in (
        refused.stdout + refused.stderr
    )
    assert "with metadata.version 4.4-IV2." in formatted
