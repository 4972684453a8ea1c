"""Controllers with empty disks form one quorum without `kafka-storage format`, as processes."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from raft.formation.file import NAME, read_formation
from raft.formation.rules import InitialController, Silent, Unformatted
from raft.storage.files import OsFiles
from raft.storage.meta_properties import MetaProperties, read_meta_properties
from records.messages.cluster import DescribeClusterResponse
from records.messages.formation import QuorumFormationResponse
from records.schema import replace
from records.uuids import uuid_text
from simulations.chaos.ports import free_ports
from tests.controller.server.processes import format_directory, run_to_end, start_command, write_properties
from tests.controller.server.test_names_change import ASKED
from tests.deploy.watched import eventually
from tests.http_answers import http_answer
from tests.interop.ask import ask
from tools.kraftctl.run.find_quorum import read_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from records.messages.quorum import DescribeQuorumResponse

pytestmark = pytest.mark.slow
NODES = (1, 2, 3)
TLS = Path(__file__).parents[3] / "data" / "tls"
GIVEN = "Zm9ybWluZ19hX3F1b3J1bQ"


class Controllers:
    """Three controllers under one directory, each started with an empty disk."""

    def __init__(self, root: Path, **changes: str) -> None:
        self.root = root
        self.ports = dict(zip(NODES, free_ports(len(NODES)), strict=True))
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        servers = ",".join(f"127.0.0.1:{port}" for port in self.ports.values())
        self.properties = {}
        for node, port in self.ports.items():
            (root / str(node)).mkdir()
            self.properties[node] = write_properties(
                root / str(node), port,
                node_id=str(node), controller_quorum_voters=None, controller_quorum_bootstrap_servers=servers,
                kraft_quorum_bootstrap_expect="3", kraft_log_format="json", **changes,
            )  # fmt: skip

    def start(self, *nodes: int) -> None:
        for node in nodes:
            with (self.root / f"{node}.log").open("ab") as log:
                self.processes[node] = subprocess.Popen(start_command(self.properties[node]), stdout=log, stderr=log)

    def kill(self, node: int) -> None:
        process = self.processes.pop(node)
        process.kill()
        process.wait()

    def wipe(self, node: int) -> None:
        self.kill(node)
        shutil.rmtree(self.directory(node))

    def directory(self, node: int) -> Path:
        return self.root / str(node) / "data"

    def identity(self, node: int) -> MetaProperties | None:
        return read_meta_properties(OsFiles(), str(self.directory(node)))

    def log(self, node: int) -> str:
        return (self.root / f"{node}.log").read_text()

    def events(self, node: int) -> list[str]:
        return [json.loads(line)["event"] for line in self.log(node).splitlines() if line.startswith("{")]

    def described(self) -> DescribeQuorumResponse | None:
        """What the leader says; None while there is none."""
        for node in NODES:
            with contextlib.suppress(OSError):
                answer: DescribeQuorumResponse = ask(self.ports[node], ASKED, 2)
                part = answer.topics[0].partitions[0]
                if part.leader_id == node and not part.error_code:
                    return answer
        return None

    def replicas(self) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The voters and the observers, with their directory ids, as the leader says."""
        answer = self.described()
        if answer is None:
            return {}, {}
        part = answer.topics[0].partitions[0]
        return tuple(  # type: ignore[return-value]
            {each.replica_id: bytes(each.replica_directory_id) for each in each_kind}
            for each_kind in (part.current_voters, part.observers)
        )

    def directory_ids(self) -> dict[int, bytes | None]:
        return {node: values.directory_id for node in NODES if (values := self.identity(node))}


@pytest.fixture(name="controllers")
def _controllers(tmp_path: Path) -> Iterator[Controllers]:
    controllers = Controllers(tmp_path)
    yield controllers
    for node in list(controllers.processes):
        controllers.kill(node)


def test_three_controllers_form_a_quorum_once_all_are_there(controllers: Controllers) -> None:
    controllers.start(2, 3)
    eventually(lambda: "quorum_not_formed" in controllers.events(3), "2 of 3 wait")
    time.sleep(1)
    assert controllers.described() is None
    assert all(controllers.identity(node) is None for node in NODES)

    controllers.start(1)
    eventually(lambda: len(controllers.replicas()[0]) == 3, "a quorum of three")

    eventually(lambda: len(controllers.directory_ids()) == 3, "all are formatted")
    assert controllers.replicas()[0] == controllers.directory_ids()
    assert len({values.cluster_id for node in NODES if (values := controllers.identity(node))}) == 1
    eventually(lambda: not any((controllers.directory(node) / NAME).exists() for node in NODES), "no file is left")


def test_an_empty_disk_joins_the_quorum_that_exists(controllers: Controllers) -> None:
    controllers.start(*NODES)
    eventually(lambda: len(controllers.directory_ids()) == 3, "a quorum of three")
    eventually(lambda: len(controllers.replicas()[0]) == 3, "a leader")
    before = controllers.directory_ids()

    controllers.wipe(3)
    controllers.start(3)
    eventually(lambda: controllers.replicas()[1], "an observer")

    voters, observers = controllers.replicas()
    assert voters == before
    assert observers == {3: controllers.directory_ids()[3]}
    assert controllers.identity(1)._replace(node_id=3, directory_id=None) == controllers.identity(3)._replace(  # type: ignore[union-attr]
        directory_id=None
    )
    assert "quorum_joined" in controllers.events(3)


def test_two_lost_disks_of_a_quorum_do_not_make_a_second_one(controllers: Controllers) -> None:
    controllers.start(*NODES)
    eventually(lambda: len(controllers.directory_ids()) == 3, "a quorum of three")
    cluster_id = controllers.identity(1).cluster_id  # type: ignore[union-attr]

    for node in (2, 3):
        controllers.wipe(node)
    controllers.start(2, 3)
    reason = (
        f"2 of 3 controllers are there (2, 3); 127.0.0.1:{controllers.ports[1]}: it belongs to a quorum that has no"
    )
    # Where the one that is left has not resigned yet when they ask it, they join it, as observers. Later it asks them
    # for their votes.
    ends = (reason, "exists: node 1 has its metadata", '"quorum_joined"')
    eventually(lambda: all(any(end in controllers.log(node) for end in ends) for node in (2, 3)), "both wait, or join")
    time.sleep(2)
    eventually(lambda: controllers.described() is None, "none of three leads")

    joined = {node for node in (2, 3) if "quorum_joined" in controllers.events(node)}
    assert {values.cluster_id for node in NODES if (values := controllers.identity(node))} == {cluster_id}
    assert controllers.directory_ids().keys() == {1, *joined}


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_any_moment_do_not_keep_controllers_from_one_quorum(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    # So they listen for 1.3 s, and kills come before and after that.
    controllers = Controllers(
        tmp_path, controller_quorum_fetch_timeout_ms="1000", controller_quorum_election_timeout_ms="100",
        controller_quorum_election_backoff_max_ms="100",
    )  # fmt: skip
    try:
        _kill_at_any_moment(controllers, rng)

        # The last of them may learn a moment later that the others have formed it.
        eventually(lambda: controllers.replicas()[0] == controllers.directory_ids(), "all three have metadata")
        assert len({values.cluster_id for node in NODES if (values := controllers.identity(node))}) == 1
    finally:
        for node in list(controllers.processes):
            controllers.kill(node)


def _kill_at_any_moment(controllers: Controllers, rng: Random) -> None:
    for _ in range(6):
        for node in rng.sample(NODES, 3):
            if node not in controllers.processes:
                controllers.start(node)
        time.sleep(rng.random() * 3)
        for node in rng.sample(NODES, rng.randint(1, 3)):
            controllers.kill(node)
    controllers.start(*(node for node in NODES if node not in controllers.processes))
    eventually(lambda: len(controllers.replicas()[0]) == 3, "a quorum of three")


def test_three_lost_disks_of_five_do_not_make_a_second_quorum(tmp_path: Path) -> None:
    """Voters 4 and 5 have joined later; the bootstrap servers 1, 2 and 3 have all lost their disks."""
    controllers = Controllers(tmp_path, kraft_quorum_bootstrap_cluster_id=GIVEN)
    (tmp_path / "4").mkdir()
    port, other_port = free_ports(2)
    fourth = write_properties(
        tmp_path / "4", port, node_id="4", controller_quorum_voters=None,
        controller_quorum_bootstrap_servers=",".join(f"127.0.0.1:{each}" for each in controllers.ports.values()),
    )  # fmt: skip
    ports = {**controllers.ports, 4: port, 5: other_port}
    voters = [f"{node}@127.0.0.1:{each}:{uuid_text(bytes([node]) * 16)}" for node, each in ports.items()]
    format_directory(fourth, "--initial-controllers", ",".join(voters), cluster_id=GIVEN)
    controllers.properties[4] = fourth
    try:
        controllers.start(4, *NODES)
        reason = f"a quorum of the cluster {GIVEN} exists: node 4 has its metadata, and asks for a vote. No second one"
        eventually(lambda: any(reason in controllers.log(node) for node in NODES), "a request of voter 4 is heard", 90)
        time.sleep(5)

        assert {node: controllers.identity(node) for node in NODES} == dict.fromkeys(NODES)
        assert not any("initial_controllers_saved" in controllers.events(node) for node in NODES)
        assert "connection_refused" not in controllers.events(1), "the requests of voter 4 are answered"
    finally:
        for node in list(controllers.processes):
            controllers.kill(node)


def test_a_given_cluster_id_is_that_of_the_quorum(tmp_path: Path) -> None:
    controllers = Controllers(tmp_path, kraft_quorum_bootstrap_cluster_id=GIVEN)
    controllers.start(*NODES)
    try:
        eventually(lambda: len(controllers.directory_ids()) == 3, "a quorum of three")

        assert {values.cluster_id for node in NODES if (values := controllers.identity(node))} == {GIVEN}
    finally:
        for node in NODES:
            controllers.kill(node)


def test_controllers_with_tls_and_sasl_form_a_quorum(tmp_path: Path) -> None:
    certificate = tmp_path / "node.pem"
    certificate.write_text((TLS / "node.key").read_text() + (TLS / "node.pem").read_text())
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="c" password="c" user_c="c";'
    controllers = Controllers(
        tmp_path, listener_security_protocol_map="CONTROLLER:SASL_SSL",
        ssl_keystore_type="PEM", ssl_keystore_location=str(certificate),
        ssl_truststore_type="PEM", ssl_truststore_location=str(TLS / "ca.pem"),
        ssl_endpoint_identification_algorithm="",
        sasl_mechanism_controller_protocol="PLAIN", sasl_enabled_mechanisms="PLAIN",
        listener_name_controller_plain_sasl_jaas_config=login,
    )  # fmt: skip
    controllers.start(*NODES)
    try:
        eventually(lambda: len(controllers.directory_ids()) == 3, "a quorum of three")
        eventually(lambda: any("controller_active" in controllers.events(node) for node in NODES), "a leader")
    finally:
        for node in NODES:
            controllers.kill(node)

    assert len({values.cluster_id for node in NODES if (values := controllers.identity(node))}) == 1


def test_a_controller_that_waits_ends_at_a_signal_and_keeps_its_directory_id(controllers: Controllers) -> None:
    stored = []
    for starts in (1, 2):
        controllers.start(1)
        eventually(lambda: controllers.events(1).count("quorum_not_formed") == starts, "it waits")  # noqa: B023
        process = controllers.processes.pop(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        stored.append(read_formation(OsFiles(), str(controllers.directory(1))))

    assert stored[0] == stored[1] is not None


def test_a_controller_that_waits_is_alive_and_has_not_started(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    controllers = Controllers(tmp_path, kraft_http_listener=f"127.0.0.1:{port}")
    controllers.start(1)
    try:
        eventually(lambda: "quorum_not_formed" in controllers.events(1), "it waits")
        statuses = {path: status_of(port, path) for path in ("/livez", "/startupz", "/readyz")}
    finally:
        controllers.kill(1)

    assert statuses == {"/livez": 200, "/startupz": 503, "/readyz": 503}


def status_of(port: int, path: str) -> int:
    return http_answer(f"http://127.0.0.1:{port}{path}")[0]


def test_a_damaged_file_is_refused(controllers: Controllers) -> None:
    controllers.directory(1).mkdir()
    (controllers.directory(1) / NAME).write_text("{")

    done = run_to_end(controllers.properties[1])

    assert done.returncode == 1
    assert f"{NAME} is damaged" in done.stderr
    assert "If this controller was never part of a quorum, remove the file" in done.stderr


CONTROLLER = QuorumFormationResponse.InitialController(node_id=1, directory_id=b"1" * 16, host="c1", port=9093)


def told(**changes: Any) -> QuorumFormationResponse:
    fields = {"error_code": 0, "expect": 3, "cluster_id": "", "controller": CONTROLLER, "saved": ()}
    return QuorumFormationResponse(**{**fields, **changes})


@pytest.mark.parametrize(
    "answer",
    [
        told(error_code=31), told(cluster_id="x" * 300), told(saved=(CONTROLLER,) * 4),
        told(controller=replace(CONTROLLER, node_id=-1)), told(controller=replace(CONTROLLER, directory_id=bytes(16))),
        told(controller=replace(CONTROLLER, port=0)), told(controller=replace(CONTROLLER, host="")),
        told(controller=replace(CONTROLLER, host="h" * 256)), told(controller=replace(CONTROLLER, host="c\x1b[2J")),
        told(saved=(replace(CONTROLLER, node_id=-7),)),
        DescribeClusterResponse(
            throttle_time_ms=0, error_code=0, error_message=None, cluster_id="", controller_id=-1, brokers=(),
            cluster_authorized_operations=0,
        ),
        DescribeClusterResponse(
            throttle_time_ms=0, error_code=31, error_message="x" * 10_000, cluster_id="q", controller_id=-1, brokers=(),
            cluster_authorized_operations=0,
        ),
    ],
)  # fmt: skip
def test_what_no_controller_can_tell_counts_as_no_answer(answer: Any) -> None:
    silent = read_answer(answer, 3)

    assert isinstance(silent, Silent)
    assert len(silent.reason) < 300


def test_what_a_controller_tells_is_read() -> None:
    two = replace(CONTROLLER, node_id=2, directory_id=b"2" * 16)

    answer = read_answer(told(saved=(two, CONTROLLER), cluster_id="q"), 3)

    one = InitialController(1, b"1" * 16, "c1", 9093)
    assert answer == Unformatted(one, (one, InitialController(2, b"2" * 16, "c1", 9093)), 3, "q")
