"""`kraftctl up`: formats and runs a quorum on loopback, shows it until Ctrl-C, and measures failovers."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import sys
import time
from pathlib import Path

from records.plain_text import plain_text
from tools.kraftctl.nodes.node_views import NodeViews, leader_of
from tools.kraftctl.run.local_processes import (
    AlreadyRuns,
    Processes,
    alone_in_directory,
    running_processes,
    stop_directory,
    up_process,
)
from tools.kraftctl.run.local_quorum import HOST, LocalQuorum, PrepareFailed
from tools.kraftctl.terminal import is_confirmed, parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from tools.kraftctl.nodes.http_page import NodeView
    from tools.kraftctl.run.local_processes import Exit
    from tools.kraftctl.run.stock_brokers import StockBrokers
    from tools.kraftctl.run.up_screen import Screen

TICK_S = 0.5
# How often the other nodes are asked while they elect a leader, and for how long.
MEASURE_TICK_S = 0.002
MEASURE_S = 60.0
# A process is started again after this time; one that ends EARLY_MAX times within EARLY_S of its start stays down.
RESTART_S = 2.0
EARLY_S = 10.0
EARLY_MAX = 3


def run(arguments: list[str]) -> int:
    """Exit code 0 after Ctrl-C, SIGTERM or the end of the terminal; 1 when the quorum cannot start, or no node runs any
    more. With --status: 0 if there is a leader. With --stop: 0 also if nothing ran.
    """
    top = arguments_parser()
    options = top.parse_args(arguments)
    if options.json and not options.status:
        top.error("--json is only for --status")
    quorum = LocalQuorum(Path(options.directory), options.nodes, options.port)
    try:
        if options.status:
            return _show_status(quorum, as_json=options.json)
        if options.stop:
            is_stopped = stop_directory(quorum.directory)
            print(
                f"the quorum in {quorum.directory} is stopped" if is_stopped else f"nothing runs in {quorum.directory}"
            )
            return 0
        quorum.directory.mkdir(parents=True, exist_ok=True)
        # Before a file is written: the nodes of another `up` read these files when they are started again.
        with alone_in_directory(quorum.directory):
            _stop_left_over(quorum.directory)
            return _run_quorum(quorum, options)
    except AlreadyRuns as error:
        where = shlex.quote(str(quorum.directory))
        print(
            f"kraftctl up: process {error.process or '(unknown here)'} runs the quorum in {quorum.directory} already; "
            f"`kraftctl up --status --dir {where}` shows it, `kraftctl up --stop --dir {where}` stops it",
            file=sys.stderr,
        )
    except (OSError, PrepareFailed) as error:
        print(f"kraftctl up: {plain_text(error)}", file=sys.stderr)
    return 1


def _run_quorum(quorum: LocalQuorum, options: argparse.Namespace) -> int:
    brokers = _brokers(quorum, options.brokers)
    quorum.prepare()
    if brokers is not None:
        brokers.prepare()
    running = Up(quorum, brokers, _screen(), restarts=not options.no_restart)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        # SIGINT too: a shell starts background jobs with SIGINT ignored, but `kill -INT` should still stop this one.
        # SIGHUP is ignored under nohup, and stays so.
        # The handler raises nothing: between the start of a process and its entry, an exception would leave it running.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, running.request_stop)
    try:
        return running.run()
    except OSError as error:
        # Nobody reads the output any more: its terminal or pipe is closed.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            print(f"kraftctl up: the quorum is stopped: {plain_text(error)}", file=sys.stderr)
        return 1
    finally:
        running.stop()


def _stop_left_over(directory: Path) -> None:
    """Offer, on a terminal, to stop processes of the directory that a former `up` left, or that run without one.

    Raises PrepareFailed if they go on.
    """
    left = running_processes(directory)
    if not left:
        return
    named = [f"{_words(name)} (process {process or 'unknown here'})" for name, process in left.items()]
    names = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    run, them = ("run", "them") if len(named) > 1 else ("runs", "it")
    what = f"{names} of {directory} {run} without a `kraftctl up`"
    if not sys.stdin.isatty():
        raise PrepareFailed(f"{what}; `kraftctl up --stop --dir {shlex.quote(str(directory))}` stops {them}")
    if not is_confirmed(f"{what}; stop {them}?", is_given=False):
        raise PrepareFailed("nothing was changed")
    stop_directory(directory)


def _show_status(quorum: LocalQuorum, *, as_json: bool) -> int:
    """Print the nodes once, as a table or as JSON. Raises PrepareFailed: the directory has no quorum."""
    from tools.kraftctl.run.up_screen import footer, states, summary, table_text

    quorum.load()
    views = NodeViews(HOST, quorum.http_ports, quorum.cluster_id).ask_all()
    processes = running_processes(quorum.directory)
    pids = {node: processes.get(f"node-{node}") for node in quorum.ports}
    up = up_process(quorum.directory)
    leader = leader_of(views)
    if as_json:
        known = {"leader_id": leader, "epoch": None if leader is None else views[leader].epoch}
        # 0 is a process of another container or machine, whose id is not known here.
        running = {"up_runs": up is not None, "up_process": up or None}
        print(json.dumps({**known, **running, "nodes": states(quorum.ports, views, pids)}))
        return 0 if leader is not None else 1
    print(table_text(quorum.ports, views, pids))
    print(summary(views))
    print("kraftctl up: not running" if up is None else f"kraftctl up: process {up or '(unknown here)'}")
    if processes:
        print("\n".join(footer(quorum)))
    return 0 if leader is not None else 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl up",
        "Format and run a quorum of controllers on 127.0.0.1, and show it until Ctrl-C. When a node ends, "
        "print the time until the next leader and the next commit, and start the node again.",
        "kraftctl up --nodes 5",
        "kraftctl up --dir /tmp/quorum --port 29091 --brokers 1",
        "kraftctl up --dir /tmp/quorum --status --json",
        "kraftctl up --dir /tmp/quorum --stop",
    )
    top.add_argument(
        "--dir", dest="directory", default="data", metavar="DIR", help="directory of the data (default: ./data)"
    )
    instead = top.add_mutually_exclusive_group()
    instead.add_argument("--status", action="store_true", help="show the quorum of the directory once, and end")
    instead.add_argument("--stop", action="store_true", help="stop the quorum of the directory, and end")
    top.add_argument("--json", action="store_true", help="print one JSON object, with --status")
    top.add_argument("--nodes", type=int, choices=(1, 3, 5), help="number of controllers (default: 3)")
    top.add_argument(
        "--port", type=int,
        help="port of node 1, the others have the next ones; pages are at +100, the watch at +200 (default: 19091)",
    )  # fmt: skip
    top.add_argument("--no-restart", action="store_true", help="do not start a node again that has ended")
    top.add_argument(
        "--brokers", type=int, default=0, metavar="N",
        help="also run N stock brokers, from KAFKA_HOME, or with a JDK and Maven from Maven Central",
    )  # fmt: skip
    return top


def _brokers(quorum: LocalQuorum, count: int) -> StockBrokers | None:
    if not count:
        return None
    from tools.kraftctl.run.stock_brokers import StockBrokers

    return StockBrokers(quorum, count)


def _screen() -> Screen:
    from tools.kraftctl.run.up_screen import Lines, Table

    return Table() if sys.stdout.isatty() else Lines()


class Up:
    """The running quorum: its processes, and what is shown of them."""

    def __init__(self, quorum: LocalQuorum, brokers: StockBrokers | None, screen: Screen, *, restarts: bool) -> None:
        self._quorum = quorum
        self._brokers = brokers
        self._screen = screen
        self._restarts = restarts
        self._processes = Processes(quorum.directory)
        self._views = NodeViews(HOST, quorum.http_ports, quorum.cluster_id)
        self._commands = {f"node-{node}": quorum.command(node) for node in quorum.ports}
        self._commands |= brokers.commands() if brokers is not None else {}
        self._names = {f"node-{node}": node for node in quorum.ports}
        self._started_s: dict[str, float] = {}
        self._early: dict[str, int] = {}
        # By process: when to start it again.
        self._restart_s: dict[str, float] = {}
        self._last: dict[int, NodeView] = {}
        self._is_stopping = False

    def request_stop(self, *_: object) -> None:
        """End `run`; a signal handler."""
        self._is_stopping = True
        self._processes.exits.put(None)

    def run(self) -> int:
        """Show the quorum until it shall stop, which is exit code 0, or no node runs, which is 1."""
        self._screen.begin(self._quorum, self._brokers)
        for name in self._names:
            self._start(name)
        with self._screen:
            while True:
                with contextlib.suppress(queue.Empty):
                    ended = self._processes.exits.get(timeout=TICK_S)
                    if self._is_stopping:
                        return 0
                    if ended is not None and not self._report_end(ended):
                        return 1
                    continue
                self._start_due()
                self._last = self._views.ask_all()
                if self._brokers is not None and leader_of(self._last) is not None:
                    for name in self._brokers.names:
                        if name not in self._started_s:
                            self._start(name)
                self._show()

    def stop(self) -> None:
        """Stop the brokers first: their controlled shutdown needs the controllers."""
        if self._brokers is not None:
            self._processes.stop([name for name in self._brokers.names if name in self._started_s])
        self._processes.stop()

    def _show(self) -> None:
        pids = {node: self._processes.pid(name) for name, node in self._names.items()}
        self._screen.show(self._last, pids)

    def _start(self, name: str) -> None:
        self._restart_s.pop(name, None)
        self._started_s[name] = time.perf_counter()
        self._processes.start(name, self._commands[name])

    def _start_due(self) -> None:
        for name in [name for name, due_s in self._restart_s.items() if due_s <= time.perf_counter()]:
            self._screen.event(f"{_words(name)} is started again")
            self._start(name)

    def _report_end(self, ended: Exit) -> bool:
        """Report the end of a process and what followed. False if no node runs, or will run, any more."""
        reason = self._processes.exit_reason(ended)
        node = self._names.get(ended.name)
        what = f"{_words(ended.name)} was {reason}" if ended.code < 0 else f"{_words(ended.name)} {reason}"
        if node is not None:
            self._views.close(node)
            consequence = self._consequence(ended, node)
            self._show()
            self._screen.event(f"{what}; {consequence}", is_problem=True)
        else:
            self._screen.event(what, is_problem=True)
        if not self._restarts_again(ended):
            self._screen.event(f"{_words(ended.name)} stays down", is_problem=True)
        return any(self._processes.pid(name) or name in self._restart_s for name in self._names)

    def _restarts_again(self, ended: Exit) -> bool:
        """Plan to start a process again; False if it stays down."""
        if not self._restarts:
            return False
        lived_s = ended.time_s - self._started_s[ended.name]
        early = self._early[ended.name] = self._early.get(ended.name, 0) + 1 if lived_s < EARLY_S else 0
        # A node that exits before there was a leader, or again and again, has a cause that a restart does not change.
        if early >= EARLY_MAX or (ended.code > 0 and not self._last):
            return False
        self._restart_s[ended.name] = time.perf_counter() + RESTART_S
        return True

    def _consequence(self, ended: Exit, node: int) -> str:
        """What the end of a node means for the quorum; after the end of the leader, measured from that moment."""
        shown = self._last
        self._last = {other: view for other, view in shown.items() if other != node}
        self._show()
        if not self._has_majority():
            return self._without_majority()
        # Of up to half a second ago: a leader that was elected since then, or lost again, is in no view yet.
        known_epoch = max((view.epoch for view in shown.values() if view.leader_id >= 0), default=-1)
        if leader_of(shown) != node:
            self._last = self._ask_running()
            leader = leader_of(self._last)
            if leader is not None and self._last[leader].epoch <= known_epoch:
                return f"node {leader} leads as before"
            led_epochs = [view.epoch for view in self._last.values() if view.leader_id == node]
            known_epoch = max(known_epoch, *led_epochs, -1)
        return self._await_leader(ended.time_s, known_epoch)

    def _ask_running(self) -> dict[int, NodeView]:
        nodes = [node for name, node in self._names.items() if self._processes.pid(name)]
        views = {node: self._views.ask(node) for node in nodes}
        return {node: view for node, view in views.items() if view is not None}

    def _running(self) -> int:
        return sum(1 for name in self._names if self._processes.pid(name))

    def _has_majority(self) -> bool:
        return self._running() > len(self._names) // 2

    def _without_majority(self) -> str:
        majority = len(self._names) // 2 + 1
        return f"{self._running()} of {len(self._names)} voters run, and a majority of {majority} is needed: no commits"

    def _await_leader(self, since_s: float, old_epoch: int) -> str:
        """Ask the nodes without pause until one leads a later epoch and has committed; 60 s, while a majority runs."""
        leader_ms = None
        while time.perf_counter() < since_s + MEASURE_S and not self._is_stopping:
            if not self._has_majority():
                return self._without_majority()
            for node, name in ((node, name) for name, node in self._names.items()):
                view = self._views.ask(node) if self._processes.pid(name) else None
                if view is None or view.role != "leader" or view.epoch <= old_epoch:
                    continue
                now_ms = (time.perf_counter() - since_s) * 1000
                leader_ms = now_ms if leader_ms is None else leader_ms
                if view.is_active:
                    self._last[node] = view
                    return (
                        f"node {node} leads epoch {view.epoch} after {leader_ms:.0f} ms, and its first commit came "
                        f"after {now_ms:.0f} ms"
                    )
            time.sleep(MEASURE_TICK_S)
        return f"no new leader within {time.perf_counter() - since_s:.0f} s"


def _words(name: str) -> str:
    return name.replace("-", " ")
