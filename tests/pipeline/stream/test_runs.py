"""Runs on Spark: a generated history through every table, image by image, and a job that is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.commands.main import main
from pipeline.histories import Size, write_history
from pipeline.schemas import BY_NAME, TABLES
from pipeline.session import SHORT_JAVA
from pipeline.tables import running
from pipeline.tables.images import image_frame, topic_names
from pipeline.tables.warehouse import Warehouse
from records.uuids import uuid_text
from tests.pipeline.logs import GOLDEN, read
from tests.pipeline.tables.runner import Runner, ordered
from tests.raft.network.certificates import needs_openssl
from tests.tools.kraftctl.test_command_config import _sasl, ann
from tools.offline.load import load_image

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["_sasl"]  # the fixture `sasl`

pytestmark = pytest.mark.filterwarnings("ignore")

PARTITION_TABLES = ("leadership", "isr_changes", "unavailability", "under_replication", "reassignments")


def quiet(_line: str) -> None:
    pass


def derived(spark: Any, warehouse: Warehouse, path: str) -> Any:
    manifest = running.ingest(spark, warehouse, warehouse.manifest(), {"path": path}, say=quiet)
    manifest = warehouse.commit(running.derive(spark, warehouse, manifest, say=quiet))
    warehouse.sweep(manifest)
    return manifest


def rows(spark: Any, warehouse: Warehouse, name: str, cluster: str) -> list[dict[str, Any]]:
    import pyarrow as pa

    table = running.frame_of(spark, warehouse, warehouse.manifest(), name).where(f"cluster = '{cluster}'").toArrow()
    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(number, field.name, table[field.name].cast(pa.int64()))
    return list(table.to_pylist())


def test_a_history_of_three_clusters_runs_through_every_table(spark: Any, tmp_path: Path) -> None:
    clusters = [
        write_history(tmp_path / f"cluster-{seed}", Size(6_000, 400, brokers=6, partitions_per_topic=20), seed)
        for seed in (1, 2, 3)
    ]
    warehouse = Warehouse(str(tmp_path / "warehouse"))

    derived(spark, warehouse, str(tmp_path / "cluster-*"))

    for seed, cluster in enumerate(clusters, start=1):
        runner = Runner(cluster)
        runner.run(read(tmp_path / f"cluster-{seed}"))
        for name in PARTITION_TABLES:
            assert ordered(rows(spark, warehouse, name, cluster)) == runner.rows(name)
            assert runner.rows(name), name
        for name in ("elections", "config_changes", "acl_changes"):
            assert len(rows(spark, warehouse, name, cluster)) == len(runner.others[name]) > 0
        lasting = runner.cluster.open_sessions()
        assert len(rows(spark, warehouse, "broker_sessions", cluster)) == len(lasting) + len(
            runner.others["broker_sessions"]
        )


def test_several_incremental_runs_give_the_tables_of_one_run(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their files are put together on the way."""
    monkeypatch.setattr("pipeline.tables.compaction.PARTS_MAX", 1)
    cluster = write_history(tmp_path / "node", Size(3_000, 200, brokers=5, partitions_per_topic=20), 7)
    log = next((tmp_path / "node" / "__cluster_metadata-0").glob("*.log"))
    data = log.read_bytes()
    runner = Runner(cluster)
    runner.run(read(tmp_path / "node"))
    warehouse = Warehouse(str(tmp_path / "warehouse"))

    for share in (0.3, 0.6, 1):
        log.write_bytes(data[: int(len(data) * share)])
        manifest = derived(spark, warehouse, str(tmp_path / "node"))
        # A torn end is reported once.
        assert running.ingest(spark, warehouse, manifest, {"path": str(tmp_path / "node")}, say=quiet) is manifest

    for name in PARTITION_TABLES:
        assert ordered(rows(spark, warehouse, name, cluster)) == runner.rows(name), name
    found = sorted(rows(spark, warehouse, "elections", cluster), key=lambda row: row["offset"])
    assert [row["silence_ms"] for row in found] == [row["silence_ms"] for row in runner.others["elections"]]
    manifest = derived(spark, warehouse, str(tmp_path / "node"))
    assert manifest.run == 4
    assert {name: len(manifest.parts[name]) for name in PARTITION_TABLES} == dict.fromkeys(PARTITION_TABLES, 1)
    assert len(manifest.records) == 1


@pytest.mark.parametrize("quorum", ["4.3-static", "4.0-static"])
def test_the_image_of_a_stock_log_equals_the_output_of_the_stock_shell(spark: Any, tmp_path: Path, quorum: str) -> None:
    """What it printed of a partition, as of a checkpoint, is in the file."""
    command, *shown = (GOLDEN / quorum / "outputs" / "shell-cat.txt").read_text().splitlines()
    found = re.search(r"(\d{20})-\d{10}\.checkpoint cat /image/topics/byName/(.*)/(\d+)$", command)
    assert found is not None
    line = next(line for line in shown if line.startswith("PartitionRegistration("))
    warehouse = Warehouse(str(tmp_path / "warehouse"))
    manifest = derived(spark, warehouse, str(GOLDEN / quorum / "node-1"))

    with image_frame(spark, warehouse, manifest, str(int(found[1]) - 1)) as image:
        row = image.where(f"topic = '{found[2]}' and `partition` = {found[3]}").collect()[0]

    lists = {name: f"[{', '.join(map(str, row[name]))}]" for name in ("replicas", "directories", "isr", "elr")}
    assert line == (
        f"PartitionRegistration(replicas={lists['replicas']}, directories={lists['directories']}, isr={lists['isr']}, "
        f"removingReplicas={row.removing}, addingReplicas={row.adding}, elr={lists['elr']}, "
        f"lastKnownElr={row.last_known_elr}, leader={row.leader}, leaderRecoveryState="
        f"{('RECOVERED', 'RECOVERING')[row.recovery]}, leaderEpoch={row.leader_epoch}, "
        f"partitionEpoch={row.partition_epoch})"
    )


@pytest.mark.parametrize("quorum", ["4.3-static", "4.0-static"])
def test_the_image_of_a_stock_log_equals_that_of_its_checkpoint(spark: Any, tmp_path: Path, quorum: str) -> None:
    """The checkpoint's is the image that the metadata shell shows: tests/tools hold the two together."""
    directory = GOLDEN / quorum / "node-1"
    checkpoint = max((directory / "__cluster_metadata-0").glob("*.checkpoint"))
    image = load_image(str(checkpoint))
    warehouse = Warehouse(str(tmp_path / "warehouse"))
    manifest = derived(spark, warehouse, str(directory))

    offset = int(checkpoint.name[:20]) - 1
    with image_frame(spark, warehouse, manifest, str(offset)) as frame:
        found = frame.collect()

    names = topic_names(image)
    partitions = {
        (uuid_text(topic_id), number): (
            names[uuid_text(topic_id)], partition.leader, partition.leader_epoch, partition.partition_epoch,
            list(partition.replicas), list(partition.isr), list(partition.elr),
            [uuid_text(one) for one in partition.directories],
        )
        for topic_id, topic in image.topics.items()
        for number, partition in topic.partitions.items()
    }  # fmt: skip
    assert {
        (row.topic_id, row.partition): (
            row.topic, row.leader, row.leader_epoch, row.partition_epoch, row.replicas, row.isr, row.elr,
            row.directories,
        )
        for row in found
        if row.section == "partitions"
    } == partitions  # fmt: skip
    assert {row.key for row in found if row.section == "topics"} == set(image.topic_ids)
    assert {int(row.key) for row in found if row.section == "brokers"} == set(image.brokers)
    assert {row.key for row in found if row.section == "acls"} == {uuid_text(id_) for id_ in image.acls}
    levels = {row.key: json.loads(row.json)["featureLevel"] for row in found if row.section == "features"}
    assert levels == dict(image.features)
    configs = {row.key: json.loads(row.json)["value"] for row in found if row.section == "configs"}
    assert configs == {
        f"{kind}:{name}:{key}": value for (kind, name), values in image.configs.items() for key, value in values.items()
    }


def test_a_killed_streaming_job_loses_and_repeats_no_row(spark: Any, tmp_path: Path) -> None:
    cluster = write_history(tmp_path / "node", Size(6_000, 200, brokers=6, partitions_per_topic=20), 11)
    where = tmp_path / "warehouse"
    command = [
        sys.executable, "-m", "pipeline.commands.main", "serve", "--once", "--warehouse", str(where), "--master",
        "local[2]", "--max-bytes", "90000", "--conf",
        f"spark.driver.extraJavaOptions=-Xss8m {SHORT_JAVA}",
        "--range-bytes", "90000", str(tmp_path / "node"),
    ]  # fmt: skip
    kills = 0
    for wanted in (1, 3):
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 240
        while job.poll() is None and time.monotonic() < deadline:
            if Warehouse(str(where)).manifest().run >= wanted:
                time.sleep(0.05 * wanted)  # within the next run
                os.killpg(job.pid, signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.02)
        job.wait()
    whole = subprocess.run(command, capture_output=True, text=True, check=False)

    warehouse = Warehouse(str(where))
    runner = Runner(cluster)
    table = read(tmp_path / "node")
    runner.run(table)
    offsets = sorted(row["offset"] for row in rows(spark, warehouse, "records", cluster))
    assert whole.returncode == 0, whole.stderr
    assert kills >= 1
    assert offsets == sorted(table["offset"].to_pylist())
    for name in PARTITION_TABLES:
        assert ordered(rows(spark, warehouse, name, cluster)) == runner.rows(name), name


def test_the_command_reports_an_error_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["tables", "--warehouse", str(tmp_path / "none")]) == 1
    assert main(["ingest", "--quorum", "nowhere", "--warehouse", str(tmp_path)]) == 1
    assert main(["serve", str(tmp_path), "--interval", "soon"]) == 1
    assert main(["sing"]) == 1

    err = capsys.readouterr().err
    assert "is not a warehouse yet" in err
    assert "'nowhere' is not host:port" in err
    assert "--interval is 'soon'" in err
    assert "Traceback" not in err
    assert set(BY_NAME) == {table.name for table in TABLES}


@needs_openssl
def test_the_command_reads_a_quorum_over_sasl_ssl(
    spark: Any, sasl: tuple[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = sasl
    at = ["ingest", "--quorum", f"localhost:{port}", "--warehouse", str(tmp_path / "warehouse"), "--command-config"]

    refused = main([*at, ann(root, "wrong")])
    said = capsys.readouterr().err.splitlines()[-1]
    code = main([*at, ann(root)])

    assert (refused, code) == (1, 0)
    assert "authentication with SASL mechanism PLAIN is refused" in said
    warehouse = Warehouse(tmp_path / "warehouse")
    table = running.frame_of(spark, warehouse, warehouse.manifest(), "records")
    assert table.where("name = 'LEADER_CHANGE'").count() >= 1
