"""`kraftctl bench`: over a real controller with brokers whose requests the test sends; and what it says of figures."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from records.batch import batches, records_of
from records.registry import metadata_class
from tests.controller.server.processes import free_port, running
from tests.tools.kraftctl.cluster.test_topic import SESSION, Cluster
from tools.client.quorum import Member, View
from tools.kraftctl.bench import bench_measures
from tools.kraftctl.bench.bench_figures import Measured, figures, percentile
from tools.kraftctl.bench.bench_measures import Commits, Load, NotMeasured, Target, validate_topics
from tools.kraftctl.bench.bench_scratch import Scratch
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = ("--seconds", "2")


@pytest.fixture(name="node", scope="module")
def _node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Path]]:
    """A controller of ours with three brokers, and its directory."""
    port, root = free_port(), tmp_path_factory.mktemp("node")
    with running(root, port, **SESSION):
        assert main(["wait", "--bootstrap-controller", f"127.0.0.1:{port}", "--timeout", "20"]) == 0
        cluster = Cluster(port)
        with cluster.live:
            cluster.register()
            yield cluster, root


def written(node: tuple[Cluster, Path]) -> list[str]:
    """The types of all records of the log, without NoOpRecords."""
    (log,) = (node[1] / "data" / "__cluster_metadata-0").glob("*.log")
    data = log.read_bytes()
    names = []
    for batch in batches(data):
        if batch.is_control:
            continue
        for record in records_of(data, batch):
            assert record.value is not None
            names.append(metadata_class(record.value[1]).__name__)  # frame version, type, version
    return [name for name in names if name != "NoOpRecord"]


def bench(node: tuple[Cluster, Path], *options: str) -> int:
    return main(["bench", "--bootstrap-controller", node[0].address, *options])


def test_nothing_is_written_without_a_scratch_topic(
    node: tuple[Cluster, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = written(node)

    code = bench(node, *QUICK, "--json", "--connections", "3")

    assert written(node) == before
    said = json.loads(capsys.readouterr().out)
    by_name = {figure["name"]: figure for figure in said["figures"]}
    assert list(by_name) == [
        "round trip to node 1 (leader)", "clock of the leader, ahead of this one", "between two commits",
        "append → commit", "CreateTopics, only validated", "… of 3 connections",
    ]  # fmt: skip
    for name in ("round trip to node 1 (leader)", "append → commit", "CreateTopics, only validated"):
        assert by_name[name]["values"]["p50"] > 0, name
    assert by_name["… of 3 connections"]["values"]["rate"] > 0
    assert code == (2 if any(figure["cause"] for figure in said["figures"]) else 0)


def test_the_scratch_topic_is_created_and_deleted(
    node: tuple[Cluster, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = written(node)

    code = bench(node, *QUICK, "--scratch-topic", "scratch", "--limit", "10000")

    new = written(node)[len(before) :]
    assert code in (0, 2)
    assert 0 < new.count("TopicRecord") == new.count("RemoveTopicRecord") <= 200
    assert "scratch" not in node[0].live.update().topic_ids
    out = capsys.readouterr().out
    assert "commit of a topic's creation (ms)" in out
    assert "… one after the other (per s)" in out


def test_the_scratch_topic_is_deleted_after_an_interruption(
    node: tuple[Cluster, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    delete = Scratch._delete

    def interrupted(scratch: Scratch, connection: Any) -> float:
        if not seen:
            seen.append("cut" in node[0].live.update().topic_ids)
            raise KeyboardInterrupt
        return delete(scratch, connection)

    monkeypatch.setattr(Scratch, "_delete", interrupted)
    code = bench(node, *QUICK, "--scratch-topic", "cut", "--limit", "10000")

    assert (code, seen) == (130, [True])
    assert "cut" not in node[0].live.update().topic_ids
    assert capsys.readouterr() == ("", "kraftctl bench: interrupted\n")


def test_a_topic_that_exists_is_refused_and_stays(
    node: tuple[Cluster, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    node[0].create("kept", (1,))

    code = bench(node, *QUICK, "--scratch-topic", "kept")

    assert code == 1
    assert "kept" in node[0].live.update().topic_ids
    said = capsys.readouterr().err
    assert said == "kraftctl bench: topic kept exists already, and kraftctl bench would delete it; give another name\n"


def test_a_topic_that_another_client_creates_meanwhile_stays(node: tuple[Cluster, Path]) -> None:
    scratch = Scratch(Target(("127.0.0.1", node[0].port), None), "raced")
    scratch.check()
    node[0].create("raced", (1,))

    with pytest.raises(NotMeasured, match="raced exists"):
        scratch.rounds(1, 60.0, 10_000.0, lambda: None)
    scratch.delete([scratch.target])

    assert "raced" in node[0].live.update().topic_ids


def test_a_topic_that_cannot_be_deleted_is_named(node: tuple[Cluster, Path]) -> None:
    scratch = Scratch(Target(("127.0.0.1", free_port()), None), "left")
    scratch.exists = True

    with pytest.raises(NotMeasured, match="topic left may be left: delete it with kafka-topics --delete"):
        scratch.delete([scratch.target], tries=1)


def test_requests_stop_above_the_limit(node: tuple[Cluster, Path]) -> None:
    target = Target(("127.0.0.1", node[0].port), None)

    load = validate_topics(target, "v", 2, 60.0, 0.0, lambda: None)

    assert load.stopped == "the median of 20 answers was above 0 ms"
    assert 20 <= len(load.times) <= 22
    assert load.seconds < 60


def test_a_node_that_does_not_answer_ends_the_requests(node: tuple[Cluster, Path]) -> None:
    with pytest.raises(ConnectionRefusedError):
        validate_topics(Target(("127.0.0.1", free_port()), None), "v", 2, 60.0, 100.0, lambda: None)


def test_a_scratch_topic_needs_a_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    at = ["--bootstrap-controller", f"127.0.0.1:{port}"]
    with running(tmp_path, port):
        assert main(["wait", *at, "--timeout", "20"]) == 0
        code = main(["bench", *at, *QUICK, "--scratch-topic", "s"])

    assert code == 1
    assert "INVALID_REPLICATION_FACTOR" in (said := capsys.readouterr().err)
    assert "(a topic needs a registered broker that is not fenced)" in said


@pytest.mark.parametrize(
    "options",
    [["--seconds", "0.5"], ["--seconds", "nan"], ["--seconds", "51"], ["--connections", "33"], ["--limit", "x"], []],
)
def test_wrong_options_and_a_missing_quorum_exit_with_1(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: Any = main(["bench", "--bootstrap-controller", f"127.0.0.1:{free_port()}", *options])
    except SystemExit as end:
        code = end.code

    assert code == 1
    assert ("is not a number from" if options else "refused") in capsys.readouterr().err


def state(end: int, watermark: int, **voters: int) -> Any:
    """An answer of node 1 about itself and others, such as n2=5."""
    others = [SimpleNamespace(replica_id=int(name[1:]), log_end_offset=at) for name, at in voters.items()]
    leader = SimpleNamespace(replica_id=1, log_end_offset=end, last_caught_up_timestamp=-1)
    return SimpleNamespace(current_voters=[leader, *others], high_watermark=watermark)


def test_an_append_is_timed_from_the_request_before_it_was_seen() -> None:
    watch = bench_measures._Watch(1)
    watch.take(state(5, 5, n2=5, n3=5), 1.000, 1.001, 0)
    watch.take(state(6, 5, n2=5, n3=5), 1.010, 1.011, 0)  # appended after 1.000
    watch.take(state(7, 6, n2=6, n3=5), 1.020, 1.021, 0)  # one more, after 1.010
    watch.take(state(7, 7, n2=7, n3=7), 1.030, 1.031, 0)

    assert [round(each) for each in watch.committed] == [21, 21]
    assert {node: [round(each) for each in times] for node, times in watch.fetched.items()} == {
        2: [21, 21],
        3: [31, 21],
    }
    assert [round(each) for each in watch.apart] == [10]


def test_a_deposed_leader_is_not_measured() -> None:
    partition = SimpleNamespace(error_code=6)
    answer = SimpleNamespace(error_code=0, topics=(SimpleNamespace(partitions=(partition,)),))

    with pytest.raises(NotMeasured, match="DescribeQuorum failed with NOT_LEADER_OR_FOLLOWER"):
        bench_measures._partition(answer)


@pytest.mark.parametrize(
    ("code", "said"), [(41, "changed during the measurement"), (29, "TOPIC_AUTH"), (31, "CLUSTER_AUTH")]
)
def test_refusals_are_not_timed(code: int, said: str) -> None:
    with pytest.raises(NotMeasured, match=said):
        bench_measures.check_served(code)


def measured(**changes: Any) -> Measured:
    """A quorum of three without a fault. Node 1 leads; all times are 1 ms."""
    voters = {number: Member(number, "", 100, 50_000, 50_000) for number in (1, 2, 3)}
    ones = [1.0] * 100
    commits = Commits(10.0, 1000, ones, {2: ones, 3: ones}, [500.0] * 20, (0.1, 0.5))
    load = Load(ones, 1.0, "")
    measures = Measured(
        View("c", 1, 4, 100, voters, {}, ("h", 1)), {1: ones, 2: ones, 3: ones}, commits, load, load, 4, {}
    )
    commits = commits._replace(**{key: changes.pop(key) for key in list(changes) if key in Commits._fields})
    return measures._replace(commits=commits, **changes)


def causes(measures: Measured) -> dict[str, str]:
    return {figure.name: figure.cause for figure in figures(measures) if figure.cause}


SLOW = [60.0] * 100


def test_a_quorum_without_a_fault_has_no_high_figure() -> None:
    assert causes(measured(scratch=([30.0] * 100, [30.0] * 100))) == {}


def test_the_figure_that_is_high_is_named_with_its_cause() -> None:
    both = causes(measured(committed=SLOW, fetched={2: SLOW, 3: SLOW}))
    one = causes(measured(committed=SLOW, fetched={2: [1.0] * 100, 3: SLOW}))
    far = causes(measured(trips={1: [1.0] * 50, 2: SLOW, 3: SLOW}, fetched={2: [200.0] * 9, 3: [1.0]}))

    assert both["append → commit"].startswith("all voters are late and round trips are short")
    assert one["append → commit"].startswith("node 3 fetches late, others do not")
    assert one["append → node 3 has it"] == "its disk (sync) or CPU: its round trip is short"
    assert far == {
        "round trip to node 2": "the network from here to the node, or its CPU",
        "round trip to node 3": "the network from here to the node, or its CPU",
        "append → node 2 has it": "the network to it",
    }


def test_a_quorum_that_commits_nothing_or_late() -> None:
    assert "the quorum commits nothing" in causes(measured(apart=[]))["between two commits"]
    assert "no-op records late" in causes(measured(apart=[1200.0] * 8))["between two commits"]
    assert causes(measured(apart=[], settings={"metadata.max.idle.interval.ms": "0"})) == {}


def test_a_voter_that_is_silent_or_far_behind() -> None:
    measures = measured()
    voters = {**measures.view.voters, 2: Member(2, "", 90, 30_000, 30_000), 3: Member(3, "", 100, 50_000, 50_000)}
    voters[1] = Member(1, "", 5000, -1, 50_000)

    assert causes(measures._replace(view=measures.view._replace(voters=voters))) == {
        "lag of node 2": "the node is down, or does not reach the leader: kraftctl doctor on its machine",
        "lag of node 3": "the node is still catching up, or its disk is too slow",
    }


def test_other_figures_that_are_high() -> None:
    trips: dict[int, list[float] | str] = {1: [1.0] * 49 + [300.0], 2: "refused", 3: [1.0]}
    stopped = Load([1.0] * 30, 1.0, "too slow")

    assert causes(measured(trips=trips)) == {
        "round trip to node 1 (leader)": "pauses of the node or lost packets: look at its CPU, its collections of "
        "garbage, retransmissions",
        "round trip to node 2": "it does not answer: refused",
    }
    assert set(causes(measured(clock=(-2000.0, 5.0)))) == {"clock of the leader, ahead of this one"}
    assert causes(measured(clock=(1400.0, 500.0))) == {}  # it may be within the limit
    assert set(causes(measured(single=Load(SLOW, 1.0, "")))) == {"CreateTopics, only validated"}
    assert causes(measured(many=stopped)) == {"… of 4 connections": "stopped early: too slow"}


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({}, "commits wait behind other writes"),
        ({"committed": SLOW}, "the commit itself"),
        ({"single": Load(SLOW, 1.0, "")}, "the active controller"),
    ],
)
def test_why_the_commit_of_a_topic_takes_long(changes: dict[str, Any], cause: str) -> None:
    by_figure = causes(measured(scratch=([100.0] * 100, [30.0] * 100), **changes))

    assert by_figure["commit of a topic's creation"].startswith(cause)
    assert "commit of a topic's deletion" not in by_figure


def test_the_linger_time_is_expected() -> None:
    scratch = ([100.0] * 100, [100.0] * 100)
    named = [each for each in figures(measured(scratch=scratch)) if each.name.startswith("commit of a topic")]

    assert causes(measured(scratch=scratch, settings={"controller.quorum.append.linger.ms": "90"})) == {}
    assert all(
        "controller.quorum.append.linger.ms=25, its default; kraft-quorum has 0" in each.expected for each in named
    )


def test_percentiles_need_enough_values() -> None:
    assert [percentile([3.0, 1.0, 2.0], each) for each in (50, 95, 99)] == [2.0, None, None]
    assert [percentile([float(n) for n in range(1, 101)], each) for each in (50, 95, 99)] == [50.0, 95.0, 99.0]
    assert percentile([], 50) is None
