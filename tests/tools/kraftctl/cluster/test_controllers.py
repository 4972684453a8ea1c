"""`kraftctl controllers prune`: which registrations are of controllers that are gone, and what takes their place."""

from __future__ import annotations

import json
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from records.codec import decode_prefix, encode
from records.errors import Error
from records.headers import RequestHeader, ResponseHeader
from records.messages.controllers import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    UnregisterControllerResponse,
)
from records.messages.versions import ApiVersionsResponse
from tests.controller.server.processes import free_port, running
from tests.tools.kraftctl.cluster.test_features import GHOST, REGISTERED_MS, with_ghost
from tests.tools.kraftctl.cluster.test_quorum_calls import member, view
from tools.client.connection import Connection
from tools.kraftctl.cluster.controllers import (
    LEVEL_MAX,
    UNREGISTERED,
    WIDENED,
    ghosts,
    remove,
    require_gone,
    wide_registration,
)
from tools.kraftctl.cluster.quorum_calls import Quorum
from tools.kraftctl.main import main
from tools.kraftctl.points.places import Place, read
from tools.kraftctl.points.points import START, Reading

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tools.kraftctl.points.noting_image import NotingImage


@pytest.fixture(name="image")
def _image(tmp_path: Path) -> NotingImage:
    return read(Place(directory=str(with_ghost(tmp_path))), Reading(since=START), "test")


def test_a_controller_that_is_neither_voter_nor_observer_is_a_ghost(image: NotingImage) -> None:
    voters = view(*(member(number) for number in image.controllers if number != GHOST))

    (ghost,) = ghosts(image, voters)

    assert (ghost.node_id, ghost.registered_ms, ghost.is_widened) == (GHOST, REGISTERED_MS, False)
    assert ghost.supported == {"metadata.version": (7, 25)}
    assert ghost.blocks["metadata.version"][0] == 26
    assert ghosts(image, voters._replace(observers={GHOST: member(GHOST)})) == []


def test_voters_observers_and_unknown_ids_are_refused(image: NotingImage) -> None:
    voters = view(member(1), observers=(member(GHOST),))

    for node_id, text in ((1, "1 is a voter"), (GHOST, f"{GHOST} is an observer"), (99, "99 is not registered")):
        with pytest.raises(OSError, match=text):
            require_gone([node_id], image, voters)
    require_gone([GHOST], image, view(member(1)))


def test_a_widened_registration_supports_every_level_and_listens_nowhere(image: NotingImage) -> None:
    request = wide_registration(GHOST, bytes(16), image)

    levels = {each.name: (each.min_supported_version, each.max_supported_version) for each in request.features}
    assert levels.keys() >= {"metadata.version", "kraft.version", "group.version"}
    assert set(levels.values()) == {(0, LEVEL_MAX)}
    assert request.listeners == ()


def serve_two(server: socket.socket, refused_with: Error, asked: list[int]) -> None:
    """Answer as a leader of Kafka 4.4: UnregisterController with an error, ControllerRegistration without."""
    api = ApiVersionsResponse.ApiVersion
    keys = tuple(api(api_key=key, min_version=0, max_version=4 if key == 18 else 0) for key in (18, 70, 94))
    answers: dict[int, tuple[Any, int]] = {
        18: (ApiVersionsResponse(error_code=0, api_keys=keys), 4),
        70: (ControllerRegistrationResponse(throttle_time_ms=0, error_code=0, error_message=None), 0),
        94: (UnregisterControllerResponse(throttle_time_ms=0, error_code=refused_with, error_message="no"), 0),
    }
    server.settimeout(10)
    while 70 not in asked and (94 not in asked or refused_with == Error.UNSUPPORTED_VERSION):
        client, _ = server.accept()
        with client:
            while head := client.recv(4, socket.MSG_WAITALL):
                frame = client.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
                header, _ = decode_prefix(RequestHeader, 2, frame, 0)
                key = header.request_api_key
                asked.append(key)
                answer, version = answers[key]
                id_ = encode(ResponseHeader(correlation_id=header.correlation_id), 0 if key == 18 else 1)
                data = id_ + encode(answer, version)
                client.sendall(len(data).to_bytes(4, "big") + data)


@pytest.mark.parametrize(
    ("refused_with", "expected"),
    [(Error.NONE, UNREGISTERED), (Error.UNSUPPORTED_VERSION, WIDENED), (Error.CLUSTER_AUTHORIZATION_FAILED, "")],
)
def test_a_leader_of_4_4_unregisters_where_metadata_version_allows_it(
    image: NotingImage, refused_with: Error, expected: str
) -> None:
    asked: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        leader = threading.Thread(target=serve_two, args=(server, refused_with, asked))
        leader.start()
        address = server.getsockname()[:2]
        quorum, seen = Quorum([address], "test", None), view(member(1))._replace(address=address)
        if expected:
            assert remove(quorum, seen, GHOST, UNREGISTERED, image) == expected
        else:
            with pytest.raises(OSError, match="UnregisterController is refused with CLUSTER_AUTHORIZATION_FAILED: no"):
                remove(quorum, seen, GHOST, UNREGISTERED, image)
        leader.join(10)

    assert [key for key in asked if key != 18] == ([94, 70] if expected == WIDENED else [94])


def test_a_ghost_of_a_live_quorum_is_pruned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    feature = ControllerRegistrationRequest.Feature(
        name="metadata.version", min_supported_version=7, max_supported_version=25
    )
    with running(tmp_path, port):
        where = ["-c", str(tmp_path / "controller.properties")]
        assert main(["wait", *where, "--timeout", "20"]) == 0
        with Connection("127.0.0.1", port, "test") as connection:
            connection.ask(
                ControllerRegistrationRequest(
                    controller_id=GHOST,
                    incarnation_id=bytes(15) + b"\1",
                    zk_migration_ready=False,
                    listeners=(),
                    features=(feature,),
                )
            )
        preflight = ["features", "preflight", "4.4", *where]
        prune = ["controllers", "prune", *where]
        codes = [main(preflight), main([*prune, "--dry-run"]), main(prune), main([*prune, "--yes", "--json"])]
        said = capsys.readouterr()
        codes += [main(preflight), main([*prune, "--id", "1", "--yes"]), main([*prune, "--yes"])]

    assert codes == [2, 2, 1, 0, 0, 1, 0]
    assert f"next: if it is gone: kraftctl controllers prune --id {GHOST}" in said.out
    assert "--yes confirms the plan" in said.err
    assert json.loads(said.out.splitlines()[-1])["done"] == {str(GHOST): "unregistered"}
    assert "controller 1 is a voter" in capsys.readouterr().err
