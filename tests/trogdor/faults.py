"""The faults of chaos, with crashes and restarts of brokers, and stops of brokers and controllers by Trogdor."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations.chaos.nemesis import Fault, Nemesis
from tests.trogdor import specs
from tests.trogdor.brokers import BROKERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.chaos.quorum import Quorum
    from tests.trogdor.brokers import Brokers
    from tests.trogdor.processes import Trogdor

# An agent needs some time to find the process.
STOP_S_MIN = 3.0
# Beyond the time of the fault itself.
DONE_S = 60.0
# For a kind of fault that was not injected in time.
SHARE_S = 4.0


class TrogdorNemesis(Nemesis):
    """wrong: what is wrong with the stops by Trogdor. A broker is stopped while the faults of controllers go on."""

    def __init__(
        self, quorum: Quorum, brokers: Brokers, trogdor: Trogdor, rng: Random, say: Callable[[str], object]
    ) -> None:
        super().__init__(quorum, rng, say)
        self.faults = {
            **self.faults,
            "crash of a broker": self._crash_broker,
            "restart of a broker": self._restart_broker,
            "stop of a broker by Trogdor": self._stop_broker,
            "stop of a controller by Trogdor": self._stop_controller,
        }
        self.counts = dict.fromkeys(self.faults, 0)
        self.wrong: list[str] = []
        self._brokers = brokers
        self._trogdor = trogdor
        self._stops = 0
        self._under_way: tuple[str, str] | None = None  # the stop of a broker: the task, and the process

    def run(self, until: float) -> None:
        """Inject faults until `until`, and, on a busy machine, until each kind was injected."""
        super().run(until)
        while self._missing():
            super().run(time.monotonic() + SHARE_S)

    def inject(self, fault: Fault, until: float) -> None:
        super().inject(fault, until)
        self._brokers.look()

    def mend(self) -> None:
        self._end_stop_of_broker()
        super().mend()

    def _crash_broker(self, _quorum: Quorum, fault: Fault, wait: Callable[[float], None]) -> None:
        self._end_stop_of_broker()
        node = self._brokers.nodes[self._draw_broker()]
        node.kill()
        wait(fault.seconds)
        node.start()

    def _restart_broker(self, _quorum: Quorum, _fault: Fault, _wait: Any) -> None:
        self._end_stop_of_broker()
        self._brokers.restart(self._draw_broker())

    def _stop_broker(self, _quorum: Quorum, fault: Fault, _wait: Any) -> None:
        self._end_stop_of_broker()
        serving = [broker for broker in (self._draw_broker(), *BROKERS) if self._brokers.serves(broker)]
        if not serving:
            return
        node = self._brokers.nodes[serving[0]]
        assert node.process is not None
        self._under_way = (self._stop(str(node.properties), node.process.pid, fault.seconds), str(node.properties))

    def _stop_controller(self, quorum: Quorum, fault: Fault, _wait: Any) -> None:
        node = fault.nodes[0]
        properties = str(quorum.directory / f"node-{node}.properties")
        self._await_end(self._stop(properties, quorum.processes[node].pid, fault.seconds), properties)

    def _draw_broker(self) -> int:
        broker = self._rng.choice(BROKERS)
        self.report(f"broker {broker}")
        return broker

    def _stop(self, properties: str, pid: int, seconds: float) -> str:
        """Have Trogdor stop a process, and see that it is stopped."""
        self._stops += 1
        task = f"stop-{self._stops}"
        self._trogdor.create(task, specs.stop(properties, max(seconds, STOP_S_MIN)))
        while not is_stopped(pid):
            if self._trogdor.state(task)["state"] == "DONE":
                self.wrong.append(f"{task} did not stop the process of {properties}")
                break
            time.sleep(0.02)
        return task

    def _end_stop_of_broker(self) -> None:
        """Wait until a broker that Trogdor stopped goes on."""
        if self._under_way is not None:
            self._await_end(*self._under_way)
            self._under_way = None

    def _await_end(self, task: str, properties: str) -> None:
        try:
            self.wrong += specs.check_resumed(task, self._trogdor.await_done(task, DONE_S), properties)
        except TimeoutError as error:
            self.wrong.append(str(error))


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal; not so if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] == "T"
