"""The autopilot in a quorum of ours and of stock: it adds and heals stock voters, and a stock leader has none."""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING

from records.uuids import uuid_text
from tests.interop.ask import describe_quorum
from tests.interop.cluster import OURS, STOCK, eventually
from tests.interop.dynamic import Dynamic, directory_id, format_node
from tests.interop.kraftctl import kraftctl
from tests.interop.test_broker_joins import the_logs_are_equal
from tests.interop.test_mixed_quorum import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock

STABILIZATION_MS = 2000
# Lines of a stock node about a record or a key that it does not take.
COMPLAINTS = re.compile(
    r"^\[[^]]*\] (?:WARN|ERROR|FATAL) .*(?:kraft\.autopilot\.(?:paused|drained)|\bfault\b|[Rr]eplay).*", re.MULTILINE
)


def test_the_autopilot_adds_and_heals_stock_voters_whose_leaders_have_none(tmp_path: Path, stock: Stock) -> None:
    found = Dynamic(tmp_path, stock)
    found.settings = {
        "kraft.autopilot.enable": "true", "kraft.autopilot.stabilization.ms": str(STABILIZATION_MS),
        # A leader writes no records by itself, so that logs that are equal stay equal.
        "metadata.max.idle.interval.ms": "0",
    }  # fmt: skip
    try:
        # One of ours leads: it makes voters of a stock controller and of one of ours.
        found.begin([OURS, STOCK, OURS])
        grown_s = await_voters(found, [1, 2, 3])
        eventually(lambda: steps(found, 1) == [("add", "2"), ("add", "3")], "two steps of the autopilot")

        # A stock voter loses its disk.
        before = directory_id(found.controllers[2])
        found.controllers[2].kill()
        shutil.rmtree(found.controllers[2].directory)
        format_node(found, 2, "--no-initial-controllers")
        found.controllers[2].start()
        eventually(lambda: before not in voter_directories(found), "the former directory is removed")
        healed_s = await_voters(found, [1, 2, 3])
        eventually(lambda: steps(found, 1)[2:] == [("remove", "2"), ("add", "2")], "two more")

        # The keys of the autopilot are in the metadata: a stock voter replays them.
        assert kraftctl(found, "autopilot", "pause").returncode == 0
        drained = kraftctl(found, "controllers", "drain", "--id", "3", "--yes")
        assert drained.returncode == 0, drained.stderr
        assert kraftctl(found, "autopilot", "resume").returncode == 0
        eventually(lambda: found.voters_now() == [1, 2], "voter 3 is drained")
        described = found.tool(
            "configs", "--bootstrap-controller", found.bootstrap_controller, "--entity-type", "brokers",
            "--entity-default", "--describe", "--all",
        )  # fmt: skip
        assert "kraft.autopilot.drained.3" in described

        # A stock leader has no autopilot: what would be added stays an observer. A drain works.
        assert kraftctl(found, "controllers", "drain", "--id", "3", "--undo", "--yes").returncode == 0
        await_voters(found, [1, 2, 3])
        let_stock_lead(found)
        state = kraftctl(found, "autopilot", "state")
        assert state.returncode == 1
        assert "no active controller with kraft.http.listener answers" in state.stderr
        drained = kraftctl(found, "controllers", "drain", "--id", "3", "--yes")
        assert drained.returncode == 0, drained.stderr
        assert kraftctl(found, "controllers", "drain", "--id", "3", "--undo", "--yes").returncode == 0
        time.sleep(3 * STABILIZATION_MS / 1000)
        assert found.voters_now() == [1, 2]
        assert found.leader() == 2

        # The next leader of ours adds it again.
        let_ours_lead(found)
        await_voters(found, [1, 2, 3])
        the_logs_are_equal(found)
        said = found.controllers[2].said()
        for key in ("paused", "drained.3"):
            assert f"(type=BROKER, name='') which set configuration kraft.autopilot.{key} " in said
        assert COMPLAINTS.findall(said) == []
        print(f"grown in {grown_s:.1f} s, healed in {healed_s:.1f} s")
    finally:
        found.close()


def await_voters(found: Dynamic, ids: list[int]) -> float:
    """Wait for these voters; the seconds that it took."""
    begin = time.monotonic()
    eventually(lambda: found.voters_now() == ids, f"the voters {ids}")
    return time.monotonic() - begin


def voter_directories(found: Dynamic) -> set[str]:
    voters = describe_quorum(found.controllers[found.leader()].port).current_voters
    return {uuid_text(each.replica_directory_id) for each in voters}


def steps(found: Dynamic, node_id: int) -> list[tuple[str, str]]:
    """The steps that the autopilot of a node of ours has made. One may have failed before, and was asked for again."""
    lines = re.findall(r"autopilot_step_done .*?node=(\d+).*?step=(\w+)", found.controllers[node_id].said())
    return [(step, node) for node, step in lines]


def let_stock_lead(found: Dynamic) -> None:
    """All restart, ours with timeouts so long that the stock voter requests votes first."""
    for number in (3, 1, 2):
        found.controllers[number].stop()
    for number in (1, 3):
        be_patient(found, number)
    found.controllers[2].start()
    eventually(lambda: describe_quorum(found.controllers[2].port), "the stock controller listens")
    # The one that stopped first has a shorter log, and knows no later leader than 1.
    found.controllers[3].start()
    eventually(lambda: found.leader() == 2, "the stock controller leads")
    found.controllers[1].start()
    eventually(lambda: describe_quorum(found.controllers[1].port), "controller 1 listens")


def let_ours_lead(found: Dynamic) -> None:
    """All restart, the stock voter with such timeouts."""
    for number in (3, 2, 1):
        found.controllers[number].stop()
    for node in found.controllers.values():
        found._write(node)
    be_patient(found, 2)
    for node in found.controllers.values():
        node.start()
    eventually(lambda: found.leader() == 1, "one of ours leads")


def be_patient(found: Dynamic, number: int) -> None:
    with found.controllers[number].properties.open("a") as file:
        file.write("".join(f"{key}=60000\n" for key in PATIENCE) + "kraft.pre.vote.on.lost.connection=false\n")
