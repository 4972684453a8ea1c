"""After a majority of the voters is lost, `kraftctl recover` makes a quorum that stock Kafka and ours start from."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.interop.ask import describe_quorum
from tests.interop.cluster import OURS, STOCK, cluster, eventually, run_tool
from tests.interop.dynamic import Dynamic
from tests.interop.test_log_repair import kraftctl

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.cluster import Cluster
    from tests.interop.stock import Stock


def recovered(directory: Path, plan: Path, *options: str) -> tuple[dict[str, object], str]:
    """Plan and apply; the JSON of the plan, and what is printed to do next."""
    made = kraftctl("recover", "plan", "--json", "--output", str(plan), *options, str(directory))
    assert made.returncode == 0, made.stderr
    done = kraftctl("recover", "apply", str(plan))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(made.stdout)), done.stdout.partition("in this order:")[2]


@pytest.mark.parametrize("kind", [STOCK, OURS])
def test_one_of_three_voters_leads_again_and_the_others_join(tmp_path: Path, stock: Stock, kind: str) -> None:
    found = Dynamic(tmp_path, stock)
    try:
        found.begin([kind] * 3)
        for number in (2, 3):
            found.await_caught_up(number)
            done = found.quorum("add-controller", config=number)
            assert done.returncode == 0, done.stdout + done.stderr
        eventually(lambda: found.voters_now() == [1, 2, 3], "three voters")
        end = found.high_watermark()
        found.end()
        for number in (2, 3):
            shutil.rmtree(found.controllers[number].directory)

        # The pain: the survivor alone never leads.
        survivor = found.controllers[1]
        survivor.start()
        eventually(lambda: describe_quorum(survivor.port).error_code, "the survivor answers")
        time.sleep(5)
        assert found.leader() == 0
        survivor.stop()

        # The way out.
        plan, steps = recovered(survivor.directory, tmp_path / "plan.json")

        assert (plan["lost"], plan["may_lose"]) == ([2, 3], True)
        survivor.start()
        found.await_leader()
        assert found.voters_now() == [1]
        eventually(lambda: found.high_watermark() >= end, "what was committed before is committed")
        assert describe_quorum(survivor.port).leader_epoch > plan["new_epoch"]
        follow(steps, found, 1)
        assert found.voters_now() == [1, 2, 3]

        # The other implementation starts from the same directory.
        found.end()
        for node in found.controllers.values():
            node.kind = OURS if kind == STOCK else STOCK
            node.start()
        found.await_leader()
        assert found.voters_now() == [1, 2, 3]
    finally:
        found.close()


def follow(steps: str, found: Cluster, survivor: int) -> None:
    """Do what `recover apply` prints, word for word; what stands between the commands is done here."""
    blocks = re.split(r"^\d\. ", steps, flags=re.MULTILINE)[1:]
    others = [number for number in found.controllers if number != survivor]
    for block, nodes in zip(blocks[:2], ([survivor], others), strict=True):
        for number in nodes:
            node = found.controllers[number]
            if "empty the directories" in block:
                shutil.rmtree(node.directory, ignore_errors=True)
            for line in re.findall(r"^     (.*)$", block, re.MULTILINE):
                if line[:2] in {"- ", "+ "}:
                    kept = [each for each in node.properties.read_text().splitlines()
                            if not each.startswith(line[2:].partition("=")[0] + "=")]  # fmt: skip
                    node.properties.write_text("\n".join([*kept, *([line[2:]] if line[0] == "+" else [])]) + "\n")
                    continue
                if "kraftctl wait" in line and node.process is None:
                    node.start()
                words = line.replace("FILE", str(node.properties)).replace("ID", str(number)).split()
                end = time.monotonic() + 60
                while (done := run_tool(*words, seconds=90)).returncode:
                    # A stock node fetches, which makes it an observer, before its listener accepts: a leader that is
                    # told to add it in between cannot connect, and the operator repeats the command.
                    is_early = "API_VERSIONS returned an error BROKER_NOT_AVAILABLE" in done.stdout + done.stderr
                    assert is_early, f"{words}: {done.stdout}{done.stderr}"
                    assert time.monotonic() < end, f"{words}: {done.stdout}{done.stderr}"
            if "restart it" in block:
                node.stop()
                node.start()
                found.await_leader()


@pytest.mark.parametrize("kind", [STOCK, OURS])
@pytest.mark.parametrize("options", [("-c",), ("--static-voters", "3")], ids=["at once", "kept static first"])
def test_static_voters_lead_again_by_the_printed_steps(
    tmp_path: Path, stock: Stock, kind: str, options: tuple[str, ...]
) -> None:
    with cluster(tmp_path, stock, [kind] * 3, brokers=0, controllers_by=kind) as found:
        survivor = found.controllers[1]
        log = survivor.directory / "__cluster_metadata-0" / f"{0:020}.log"
        # The other two elect a leader without it.
        eventually(log.exists, "the survivor has a log")
        end = found.high_watermark()
        found.end()
        for number in (2, 3):
            shutil.rmtree(found.controllers[number].directory)
        given = [*options, str(survivor.properties)] if options == ("-c",) else [*options]

        _, steps = recovered(survivor.directory, tmp_path / "plan", *given)
        follow(steps.replace("HOST:PORT", f"127.0.0.1:{survivor.port}"), found, 1)

        assert voters_of(found) == [1, 2, 3]
        assert found.high_watermark() > end


def voters_of(found: Cluster) -> list[int]:
    return sorted(voter.replica_id for voter in describe_quorum(found.controllers[found.leader()].port).current_voters)
