"""The checksums of the committed log over HTTP: those of the file, and only for who may read everything."""

from __future__ import annotations

import asyncio
import io
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from controller.node.logging.logs import Log
from controller.server.http.answers import Asked
from controller.server.http.log_checksums import parse_offset
from controller.server.http.port import HttpPort
from records.batch import batches
from tests.controller.server.processes import free_port, running, write_properties
from tests.deploy.watched import eventually
from tests.http_answers import http_answer
from tools.config_file import read_config

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a-token-of-more-than-thirty-two-characters"


def get(port: int, path: str) -> tuple[int, str]:
    return http_answer(f"http://127.0.0.1:{port}{path}")


def test_a_node_serves_the_checksums_of_its_committed_log(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, free_port(), kraft_http_listener=f"127.0.0.1:{port}"):
        eventually(lambda: get(port, "/readyz")[0] == 200, "the node is ready")

        found = json.loads(get(port, "/log/0")[1])
        data = next((tmp_path / "data").rglob("00000000000000000000.log")).read_bytes()
        rest = json.loads(get(port, f"/log/{found['batches'][2][0]}")[1])
        beyond = json.loads(get(port, f"/log/{1 << 40}")[1])
        wrong = [get(port, path)[0] for path in ("/log/", "/log/-1", "/log/x", "/log/1/2", f"/log/{'9' * 30}")]

    expected = [[b.base_offset, b.last_offset, b.leader_epoch, b.crc] for b in batches(data)]
    assert found["batches"] == expected[: len(found["batches"])]
    assert len(found["batches"]) >= 3
    assert (found["node_id"], found["start_offset"], found["fault"]) == (1, 0, None)
    assert found["end_offset"] == found["batches"][-1][1] + 1
    assert rest["batches"][0] == found["batches"][2]
    assert beyond["batches"] == []
    assert wrong == [404] * 5


@pytest.mark.parametrize(
    ("keys", "peer", "names", "status"),
    [
        ({}, "127.0.0.1:50000", (), None),
        ({}, "[::1]:50000", (), None),
        ({}, "10.0.0.7:50000", (), 403),
        ({}, "[2001:db8::7]:50000", (), 403),
        ({}, "", (), 403),
        ({}, "10.0.0.7:50000", ("CN=kate",), None),
        ({"kraft_http_token_path": "token"}, "10.0.0.7:50000", (), 401),
        ({"kraft_http_token_path": "token"}, "127.0.0.1:50000", (), 401),
    ],
)
def test_only_this_machine_and_clients_that_are_known_get_them(
    tmp_path: Path, keys: dict[str, str], peer: str, names: tuple[str, ...], status: int | None
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    files = {key: str(tmp_path / value) for key, value in keys.items()}
    config = read_config(str(write_properties(tmp_path, 9093, kraft_http_listener="127.0.0.1:0", **files)))
    loop = asyncio.new_event_loop()
    port = HttpPort(loop, config, Log("json", "INFO", io.StringIO()))
    try:
        refusal = port._refusal(cast("Any", SimpleNamespace(names=names, peer=peer)), Asked("GET", "/log/0"))
    finally:
        port.close()
        loop.close()

    assert (None if refusal is None else refusal.status) == status


def test_an_offset_is_digits_alone() -> None:
    assert parse_offset("/log/17") == 17
    assert [parse_offset(path) for path in ("/log/", "/log/+1", "/log/1e3", "/log/²", "/quorum")] == [None] * 5
