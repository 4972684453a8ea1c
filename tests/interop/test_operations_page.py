"""The commands of docs/operations.md, run as they are written, for static and for dynamic voters.

Host names, paths, times and ids are replaced by those of the test, and what an operator does between the commands is
done here: nothing else. A section's commands are taken in order, and a test fails where one is left.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.brokers import FenceBrokerRecord
from tests.interop.cluster import BIN, Cluster, eventually
from tests.interop.dynamic import directory_id, format_node
from tests.interop.operations_page import (
    ROOT,
    SECTIONS,
    Done,
    commands,
    examples,
    populate,
    quorum,
    section,
    settle,
    wipe,
)
from tests.interop.rehearsal import names_in, write
from tests.interop.test_controllers_prune import register as register_controller
from tests.interop.test_recover import follow, voters_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.cluster import NodeProcess

# "Rehearsal" names a file of a layout, which docs/rehearse.md describes.
SITES = "[sites]\ndublin = [1, 2]\nparis = [3]\n"
SEGMENT = "__cluster_metadata-0/00000000000000000000.log"
GHOST = 7
BOTH = pytest.mark.parametrize("voters", ["static", "dynamic"])

# Sections without a command to run, with what shows that they are true. Every other section has a test here.
NOT_RUN = {
    "Operations: what to do when the metadata itself is in trouble": "tests/tools/kraftctl/test_manual.py: --help, "
    "--json and --dry-run of each verb",
    "Elections that repeat, and slow failovers": "no command; tests/raft/test_handover.py, "
    "tests/controller/node/test_stop_snapshot.py",
    "The names of all controllers change": "no block of commands; tests/controller/server/test_names_change.py",
    "A quorum that forms itself": "no command; tests/tools/kraftctl/run/test_formation.py",
    "SCRAM between controllers": "no command; tests/interop/test_security_mechanisms.py, and "
    "test_security_page.py runs docs/security.md",
}


def test_each_section_is_run_or_has_a_reason() -> None:
    source = Path(__file__).read_text()
    tested = {heading for heading in SECTIONS if f'"{heading}"' in source.partition("\n}\n")[2]}

    assert [heading for heading in SECTIONS if heading not in tested | NOT_RUN.keys()] == []
    assert [heading for heading in NOT_RUN if heading not in SECTIONS or heading in tested] == []
    assert [heading for heading in NOT_RUN if commands(heading)] == []
    for reason in NOT_RUN.values():
        for path in re.findall(r"tests/[\w/]+\.py", reason):
            assert (ROOT / path).exists(), path


@BOTH
def test_a_controller_that_does_not_join_is_led_back_by_the_block(tmp_path: Path, voters: str) -> None:
    heading = "A controller does not start, or does not join"
    with quorum(tmp_path, voters) as found, section(found, heading) as operator:
        write(found, 0, 5)
        node = found.controllers[2]
        wipe(node)
        found.await_leader()
        shown, of_other_disk = examples(heading)
        told = operator.run("kraftctl doctor", 2, code=2).stdout
        block = re.findall(r"(?m)^    (.*)$", told.partition("what to do, on this machine:\n")[2])
        if voters == "dynamic":
            assert block == [operator.here(line, 2) for line in as_block(shown, node)]
        for line in block:
            if line.startswith("# start the node"):
                node.start()
            elif not line.startswith("#"):
                operator.run_line(line, 2)
        settle(found)
        assert voters_of(found) == [1, 2, 3]

        other = found.controllers[1]
        other.stop()
        other.properties.write_text(other.properties.read_text().replace("node.id=1\n", "node.id=2\n"))
        told = operator.run_again("kraftctl doctor -c /etc/kafka/controller.properties", 1, code=2).stdout
        assert operator.here(" ".join(of_other_disk.split()), 1) in " ".join(told.split())


def as_block(shown: str, node: NodeProcess) -> list[str]:
    """The lines of the example. The directory is gone there too, so nothing is moved aside."""
    lines = [line.strip() for line in shown.splitlines()[1:]]
    return [line for line in lines if not line.startswith("mv ") or node.directory.exists()]


@BOTH
def test_a_record_that_stops_all_controllers_is_cut_off(tmp_path: Path, voters: str) -> None:
    heading = "A controller stops at the same record at each start"
    with quorum(tmp_path, voters, settings={"metadata.max.idle.interval.ms": "0"}) as found:
        acknowledged = write(found, 0, 5)
        settle(found)
        found.end()
        ends = {
            (measured["end_offset"], measured["epoch"])
            for node in found.controllers.values()
            for measured in [json.loads(kraftctl("log", "verify", "--json", str(node.directory)).stdout)]
        }
        ((end_offset, epoch),) = ends
        record = build_batch(
            [encode_record(FenceBrokerRecord(id=4711, epoch=1), 0)], base_offset=end_offset, leader_epoch=epoch,
            timestamp_ms=time.time_ns() // 1_000_000,
        )  # fmt: skip
        for node in found.controllers.values():
            with (node.directory / SEGMENT).open("ab") as log:
                log.write(record)
            node.start()
        # It is committed by the first leader, which ends, and then by the second.
        processes = [node.process for node in found.controllers.values() if node.process is not None]
        eventually(lambda: sum(each.poll() is not None for each in processes) >= 2, "a majority ends")
        found.end()
        shown = re.escape(" ".join(examples(heading)[0].split())).replace("101523", r"\d+").replace("1039", r"\d+")
        for number in found.controllers:
            with section(found, heading) as operator:
                operator.run("kraftctl log verify", number)
                told = operator.run("kraftctl log replay", number, code=2).stdout
                assert re.search(operator.here(shown.replace("\\-", "-"), number), " ".join(told.split())), told
                doctor = kraftctl("doctor", "--json", "--timeout", "1", "-c", str(found.controllers[number].properties))
                block = [line for line in json.loads(doctor.stdout)["do"] if not line.startswith("#")]
                assert block == [operator.here(line, number) for line in operator.left]
                operator.run("kraftctl log truncate", number)
                operator.run("kraftctl log truncate", number)
        for node in found.controllers.values():
            node.start()
        found.await_leader()
        settle(found)
        assert set(acknowledged) <= names_in(found.controllers[1].directory)


def kraftctl(*arguments: str) -> Done:
    return subprocess.run([BIN / "kraftctl", *arguments], capture_output=True, text=True, check=False, timeout=60)


@BOTH
def test_after_the_loss_of_a_majority_a_survivor_leads_and_the_others_join(tmp_path: Path, voters: str) -> None:
    heading = "A majority of the controllers is lost"
    with quorum(tmp_path, voters, 5) as found, section(found, heading) as operator:
        acknowledged = write(found, 0, 5)
        settle(found)
        found.end()
        for number in (3, 4, 5):
            wipe(found.controllers[number])
        for number in (1, 2):
            shutil.copytree(found.controllers[number].directory, tmp_path / "copies" / f"node-{number}")

        told = operator.run("kraftctl recover measure").stdout
        best = int(re.findall(r"/node-(\d): .*<- the best log", told)[0])
        of_dynamic, of_static = (line for line in operator.left if line.startswith("kraftctl recover plan"))
        operator.left = [line for line in operator.left if not line.startswith("kraftctl recover plan")]
        operator.run_line(of_static if voters == "static" else of_dynamic, best)
        operator.run("kraftctl recover apply plan.json --dry-run", best)
        told = operator.run("kraftctl recover apply plan.json --directory", best).stdout
        follow(told.partition("in this order:")[2], found, best)

        assert voters_of(found) == [1, 2, 3, 4, 5]
        assert set(acknowledged) <= names_in(found.controllers[3].directory)


@BOTH
def test_an_empty_majority_leads_and_the_survivor_becomes_the_quorum(tmp_path: Path, voters: str) -> None:
    heading, way = "The quorum has lost data", "A majority of the controllers is lost"
    with quorum(tmp_path, voters, settings={"metadata.max.idle.interval.ms": "0"}) as found:
        acknowledged = write(found, 0, 20)
        settle(found)
        survivor = found.controllers[1]
        found.end()
        named = ",".join(f"{each.id}@127.0.0.1:{each.port}:{directory_id(each)}" for each in found.controllers.values())
        for number in (2, 3):
            wipe(found.controllers[number])
            format_node(found, number, *(("--initial-controllers", named) if voters == "dynamic" else ()))
            found.controllers[number].start()
        # Each start is an election: the empty quorum comes to an epoch above that of the survivor.
        for _ in range(3):
            found.await_leader()
            for number in (2, 3):
                found.controllers[number].stop()
            for number in (2, 3):
                found.controllers[number].start()
        found.await_leader()
        survivor.start()
        eventually(lambda: "truncation_refused" in survivor.said(), "the survivor refuses to follow")
        told = kraftctl("doctor", "-c", str(survivor.properties)).stdout
        assert "the other controllers have lost what this one has" in told
        assert "truncation_refused" in SECTIONS[heading]

        found.end()
        option = ["-c", str(survivor.properties)] if voters == "static" else []
        plan = str(tmp_path / "plan.json")
        made = kraftctl("recover", "plan", "--output", plan, *option, str(survivor.directory))
        assert made.returncode == 0, made.stderr
        told = kraftctl("recover", "apply", plan).stdout
        follow(told.partition("in this order:")[2], found, 1)

        assert "as in" in SECTIONS[heading]
        assert way in SECTIONS[heading]
        assert voters_of(found) == [1, 2, 3]
        assert set(acknowledged) <= names_in(found.controllers[2].directory)


@BOTH
def test_a_backup_is_saved_verified_restored_and_exported(tmp_path: Path, voters: str) -> None:
    with quorum(tmp_path, voters) as found, section(found, "Backup, and a return to an earlier state") as operator:
        first = write(found, 0, 5)
        populate(found)
        time.sleep(1.1)
        operator.names["2026-11-22T16:00:00Z"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        time.sleep(1.1)
        write(found, 5, 5)
        (tmp_path / "backup").mkdir()
        operator.run("kraftctl backup save --bootstrap-controller")
        service = operator.begin("kraftctl backup save -c")
        eventually(lambda: len(list((tmp_path / "backup").glob("2*"))) == 1, "a first backup")
        service.send_signal(signal.SIGTERM)
        service.communicate(timeout=30)
        operator.run("kraftctl backup verify")
        found.end()
        for node in found.controllers.values():
            wipe(node)
        operator.run("kraftctl backup restore")
        told = operator.run("kraftctl backup restore").stdout
        operator.run("kraftctl backup export")

        follow(told.partition("in this order:")[2], found, 1)
        assert voters_of(found) == [1, 2, 3]
        assert "orders" in (operator.place / "again.sh").read_text()
        for node in found.controllers.values():
            assert names_in(node.directory) == set(first)


@BOTH
def test_a_voter_that_lost_its_disk_is_replaced(tmp_path: Path, voters: str) -> None:
    with quorum(tmp_path, voters) as found, section(found, "A voter has lost its disk") as operator:
        acknowledged = write(found, 0, 5)
        settle(found)
        node = found.controllers[2]
        wipe(node)
        found.await_leader()
        if voters == "dynamic":
            operator.run_in_text("kafka-storage format -t CLUSTER_ID -c FILE --no-initial-controllers", 2)
            node.start()
            operator.run("kraftctl quorum replace")
            operator.run("kraftctl quorum replace", typed="yes\n")
        else:
            # "A disk is lost" of the runbook.
            format_node(found, 2)
            node.start()
            for _ in range(2):
                assert "static" in operator.run("kraftctl quorum replace", code=1).stderr
        settle(found)
        assert voters_of(found) == [1, 2, 3]
        assert set(acknowledged) <= names_in(node.directory)


def test_static_voters_become_dynamic(tmp_path: Path) -> None:
    heading = "Static voters become dynamic"
    with quorum(tmp_path, "static") as found, section(found, heading) as operator:
        settle(found)
        operator.run("kraftctl quorum migrate")
        told = operator.run("kraftctl quorum migrate", typed="yes\n").stdout
        key = "controller.quorum.bootstrap.servers"
        assert key in told
        for node in found.controllers.values():
            node.stop()
            lines = node.properties.read_text().splitlines()
            kept = [line for line in lines if not line.startswith("controller.quorum.voters=")]
            node.properties.write_text("\n".join([*kept, f"{key}={found.bootstrap_controller}"]) + "\n")
            node.start()
            found.await_leader()
            settle(found)
        operator.run("kraftctl quorum migrate")
        assert voters_of(found) == [1, 2, 3]


@BOTH
def test_nodes_of_4_3_are_replaced_one_by_one_and_the_level_is_raised(tmp_path: Path, voters: str) -> None:
    heading = "Kafka 4.4"
    with quorum(tmp_path, voters, release="4.3.1") as found, section(found, heading) as operator:
        settle(found)
        for node in found.controllers.values():
            node.stop()
            text = node.properties.read_text()
            assert "kraft.release=4.3\n" in text
            node.properties.write_text(text.replace("kraft.release=4.3\n", ""))
            node.start()
            found.await_leader()
            settle(found)
        upgrade = "kafka-features.sh --bootstrap-controller c1:9093 upgrade --release-version 4.4"
        # Static voters tell the leader some seconds after the start that they support kraft.version 1.
        dry = f"{upgrade} --dry-run"
        eventually(lambda: operator.run_again(dry, code=None).returncode == 0, "an upgrade is possible")
        operator.run(dry)
        operator.run(upgrade)
        register_controller(found, GHOST, 33)
        text = f"kraftctl controllers unregister --id {GHOST}"
        assert f"`{text}`" in SECTIONS[heading]
        operator.run_line(f"{text} --yes --bootstrap-controller c1:9093,c2:9093,c3:9093")


@pytest.fixture(scope="module", params=["static", "dynamic"])
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A quorum with all ports and the audit log, with brokers and a topic."""
    root = tmp_path_factory.mktemp(request.param)
    with quorum(root, request.param) as found:
        settle(found)
        populate(found)
        yield found


def test_what_changed_when_and_how_it_was_before(live: Cluster) -> None:
    with section(live, "What changed, when, and how it was before") as operator:
        operator.names["2026-11-22T16:00:00Z"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
        operator.names["8h"] = "0"
        operator.names["@4711"] = "@1"
        backup = live.root / "backup" / "today"
        backup.parent.mkdir()
        done = kraftctl("backup", "save", "--bootstrap-controller", live.bootstrap_controller, str(backup))
        assert done.returncode == 0, done.stderr
        assert "topic orders" in operator.run("kraftctl history --topic orders").stdout
        assert "broker 3" in operator.run("kraftctl history --broker 3").stdout
        operator.run("kraftctl history --config")
        assert "orders" in operator.run("kraftctl at").stdout
        assert "topic orders" in operator.run("kraftctl diff 8h end").stdout
        operator.run("kraftctl diff /backup/today@4711")
        by_whom = (
            "kraftctl history --topic orders --directory /var/lib/kafka/metadata --audit /var/log/kafka/audit.log*"
        )
        assert "CreateTopics" in operator.run_in_text(by_whom).stdout


def test_what_changes_now(live: Cluster) -> None:
    with section(live, "What changes now") as operator:
        for start in ("kraftctl watch --bootstrap-controller", "kraftctl watch --grpc"):
            watching = operator.begin(start)
            assert watching.stderr is not None
            first = watching.stderr.readline()
            watching.send_signal(signal.SIGINT)
            _, errors = watching.communicate(timeout=30)
            assert watching.returncode == 0, first + errors


def test_a_slow_part_of_the_quorum_is_named(live: Cluster) -> None:
    with section(live, "Is the quorum slow, and which part of it") as operator:
        # A figure may be high on this machine, and no broker runs that would serve a topic: the sessions of the
        # registered ones end.
        operator.run("kraftctl bench --bootstrap", code=None, more=" --seconds 2")
        status = ("status", "-c", str(live.controllers[1].properties))
        eventually(lambda: "fenced brokers: 3 " in kraftctl(*status).stdout, "no broker is unfenced")
        operator.run("kraftctl bench -c", code=1, more=" --seconds 2")


def test_all_replicas_are_equal(live: Cluster) -> None:
    with section(live, "Are all replicas equal") as operator:
        assert "differ" not in operator.run("kraftctl quorum hash").stdout


def test_one_file_for_a_ticket_is_written(live: Cluster) -> None:
    with section(live, "One file for a ticket") as operator:
        operator.names["/var/log/kafka/controller.log"] = str(live.controllers[1].log)
        operator.run("kraftctl debug bundle", more=" --seconds 2")
        (bundle,) = operator.place.glob("*.tar.gz")
        with tarfile.open(bundle) as archive:
            assert any(name.endswith("manifest.json") for name in archive.getnames())


def test_a_layout_is_rehearsed(live: Cluster) -> None:
    with section(live, "Rehearsal") as operator:
        (operator.place / "sites.toml").write_text(SITES)
        told = operator.run("kraftctl rehearse --voters", more=" --seeds 1 --scenario site-dublin").stdout
        assert "site-dublin" in told
        operator.run("kraftctl rehearse -c", more=" --seeds 1 --scenario site-dublin")
        # tests/interop/test_rehearsal.py runs a round of each way.
        assert operator.left.pop(0) == "python -m tests.interop.rehearsal --rounds 200 --seed 1"


def test_what_blocks_an_upgrade_is_found_and_pruned(live: Cluster) -> None:
    with section(live, "An upgrade of metadata.version is refused") as operator:
        register_controller(live, GHOST, 25)
        operator.run("kraftctl features preflight", code=2)
        operator.run("kraftctl controllers prune", code=2)
        operator.run("kraftctl controllers prune", more=" --yes")


def test_a_controller_is_ready_while_it_has_a_quorum(live: Cluster) -> None:
    with section(live, "Is a controller ready") as operator:
        operator.run("kraftctl probe ready")
        operator.run("kraftctl wait")


def test_each_node_is_asked_for_its_status(live: Cluster) -> None:
    with section(live, "The quorum without a leader") as operator:
        assert "fenced brokers: " in operator.run("kraftctl status", code=1).stdout


def test_completion_and_manual_pages_are_made(live: Cluster) -> None:
    with section(live, "Completion and manual pages") as operator:
        operator.run("source <(")
        operator.run("kraftctl manual")
        assert (operator.place / ".local/share/man/man1/kraftctl.1").exists()
