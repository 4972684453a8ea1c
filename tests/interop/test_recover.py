"""After a majority of the voters is lost, `kraftctl recover` makes a quorum that stock Kafka and ours start from."""

from __future__ import annotations

import json
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.interop.ask import describe_quorum
from tests.interop.cluster import OURS, STOCK, cluster, eventually
from tests.interop.dynamic import Dynamic, directory_id, format_node
from tests.interop.test_log_repair import kraftctl

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


def recovered(directory: Path, plan: Path, *options: str) -> dict[str, object]:
    """Plan and apply; the JSON of the plan."""
    made = kraftctl("recover", "plan", "--json", "--output", str(plan), *options, str(directory))
    assert made.returncode == 0, made.stderr
    done = kraftctl("recover", "apply", str(plan))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(made.stdout))


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
        plan = recovered(survivor.directory, tmp_path / "plan.json")

        assert (plan["lost"], plan["may_lose"]) == ([2, 3], True)
        survivor.start()
        found.await_leader()
        assert found.voters_now() == [1]
        eventually(lambda: found.high_watermark() >= end, "what was committed before is committed")
        assert describe_quorum(survivor.port).leader_epoch > plan["new_epoch"]
        format_node(found, 2, "--no-initial-controllers")
        found.controllers[2].start()
        found.await_caught_up(2)
        done = found.quorum("add-controller", config=2)
        assert done.returncode == 0, done.stdout + done.stderr
        eventually(lambda: found.voters_now() == [1, 2], "the second voter")
        assert directory_id(found.controllers[2])

        # The other implementation starts from the same directory.
        found.end()
        for node in (found.controllers[1], found.controllers[2]):
            node.kind = OURS if kind == STOCK else STOCK
            node.start()
        found.await_leader()
        assert found.voters_now() == [1, 2]
    finally:
        found.close()


def test_with_static_voters_the_plan_says_what_to_change_in_the_properties(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [STOCK] * 3, brokers=0, controllers_by=STOCK) as found:
        end = found.high_watermark()
        found.end()
        survivor = found.controllers[1]

        plan = recovered(survivor.directory, tmp_path / "plan.json", "--static-voters", "3")
        text = survivor.properties.read_text()
        survivor.properties.write_text(text.replace(found.voters, f"1@127.0.0.1:{survivor.port}"))
        survivor.start()
        found.await_leader()

        assert plan["may_lose"] is True
        eventually(lambda: found.high_watermark() >= end, "what was committed before is committed")
        assert describe_quorum(survivor.port).leader_epoch > plan["new_epoch"]
