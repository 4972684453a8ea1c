"""What `kraftctl up` shows: lines where the output is a file or a pipe, a live table on a terminal."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any, Protocol, Self

from controller.ctl.local_quorum import HOST
from controller.ctl.node_views import leader_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from controller.ctl.http_page import NodeView
    from controller.ctl.local_quorum import LocalQuorum
    from controller.ctl.stock_brokers import StockBrokers

    Views = dict[int, NodeView]
    Pids = dict[int, int | None]

EVENTS_SHOWN = 8


class Screen(Protocol):
    """Where the quorum is shown."""

    def begin(self, quorum: LocalQuorum, brokers: StockBrokers | None) -> None: ...

    def show(self, views: Views, pids: Pids) -> None: ...

    def event(self, text: str, *, is_problem: bool = False) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def header(quorum: LocalQuorum, brokers: StockBrokers | None) -> list[str]:
    """The addresses, one controller a line, then pages and logs."""
    lines = [f"{HOST}:{port}" for port in quorum.ports.values()]
    lines += [f"broker: {HOST}:{port}" for port in (brokers.ports.values() if brokers is not None else ())]
    pages = " ".join(f"http://{HOST}:{port}/" for port in quorum.http_ports.values())
    lines.append(f"pages: {pages}")
    if quorum.watch_ports:
        lines.append(f"watch service: {' '.join(f'{HOST}:{port}' for port in quorum.watch_ports.values())}")
    lines += [f"logs: {quorum.directory}/*.log", "Ctrl-C stops all processes; the data stays."]
    return lines


def summary(views: Views) -> str:
    """The leader, its epoch and the high watermark; `no leader` while no node leads."""
    leader = leader_of(views)
    if leader is None:
        return "no leader"
    return f"leader: node {leader}, epoch {views[leader].epoch}"


class Lines:
    """One line for each change."""

    def __init__(self) -> None:
        self._printed = ""

    def begin(self, quorum: LocalQuorum, brokers: StockBrokers | None) -> None:
        print("\n".join(header(quorum, brokers)), flush=True)

    def show(self, views: Views, pids: Pids) -> None:  # noqa: ARG002 - the table shows them
        line = summary(views)
        if line != self._printed:
            print(line, flush=True)
            self._printed = line

    def event(self, text: str, *, is_problem: bool = False) -> None:
        print(text, file=sys.stderr if is_problem else sys.stdout, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class Table:
    """A table that is drawn again in place, with the last events below it."""

    def __init__(self) -> None:
        from rich.live import Live

        self._live = Live(auto_refresh=False, transient=False)
        self._events: deque[tuple[str, bool]] = deque(maxlen=EVENTS_SHOWN)
        self._header: list[str] = []
        self._ports: dict[int, int] = {}
        self._shown: tuple[Views, Pids] = ({}, {})

    def begin(self, quorum: LocalQuorum, brokers: StockBrokers | None) -> None:
        self._header = header(quorum, brokers)[len(quorum.ports) :]
        self._ports = quorum.ports

    def show(self, views: Views, pids: Pids) -> None:
        self._shown = (views, pids)
        self._draw()

    def event(self, text: str, *, is_problem: bool = False) -> None:
        self._events.append((text, is_problem))
        self._draw()

    def _draw(self) -> None:
        from rich.console import Group
        from rich.text import Text

        lines: list[Any] = [Text(line, style="dim") for line in self._header]
        events = [Text(text, style="red" if is_problem else "green") for text, is_problem in self._events]
        self._live.update(Group(self._table(), *lines, *events), refresh=True)

    def _table(self) -> Any:
        from rich.table import Table as RichTable

        views, pids = self._shown
        leader = leader_of(views)
        title = summary(views)
        end = views[leader].end_offset if leader is not None else None
        if leader is not None:
            title += f", high watermark {views[leader].high_watermark}"
        table = RichTable(
            "node", "address", "process", "role", "epoch", "log end", "lag", title=title, title_justify="left"
        )
        for node, port in self._ports.items():
            address, pid, view = f"{HOST}:{port}", pids.get(node), views.get(node)
            if pid is None:
                table.add_row(str(node), address, "-", "down", "-", "-", "-", style="red")
            elif view is None:
                table.add_row(str(node), address, str(pid), "starting", "-", "-", "-", style="yellow")
            else:
                lag = "-" if end is None else str(max(0, end - view.end_offset))
                style = "bold green" if node == leader else "yellow" if view.not_ready else ""
                row = (str(node), address, str(pid), view.role, str(view.epoch), str(view.end_offset), lag)
                table.add_row(*row, style=style)
        return table

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
