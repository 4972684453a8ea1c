"""What `kraftctl up` shows: lines where the output is a file or a pipe, a live table on a terminal."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any, Protocol, Self

from records.plain_text import plain_text
from tools.command_line.standard_streams import unwrap_stream
from tools.kraftctl.nodes.node_views import leader_of
from tools.kraftctl.run.local_quorum import HOST
from tools.kraftctl.terminal import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from tools.kraftctl.nodes.http_page import NodeView
    from tools.kraftctl.run.local_quorum import LocalQuorum
    from tools.kraftctl.run.stock_brokers import StockBrokers

    Views = dict[int, NodeView]
    Pids = dict[int, int | None]

EVENTS_SHOWN = 8
COLUMNS = ("node", "address", "process", "role", "epoch", "log end", "lag")


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
    return [*lines, *footer(quorum), "Ctrl-C stops all processes; the data stays."]


def footer(quorum: LocalQuorum) -> list[str]:
    """Where pages, watch service and logs are."""
    lines = [f"pages: {' '.join(f'http://{HOST}:{port}/' for port in quorum.http_ports.values())}"]
    if quorum.watch_ports:
        lines.append(f"watch service: {' '.join(f'{HOST}:{port}' for port in quorum.watch_ports.values())}")
    return [*lines, f"logs: {quorum.directory}/*.log"]


def summary(views: Views) -> str:
    """The leader, its epoch and the high watermark; `no leader` while no node leads."""
    leader = leader_of(views)
    if leader is None:
        return "no leader"
    return f"leader: node {leader}, epoch {views[leader].epoch}"


def states(ports: dict[int, int], views: Views, pids: Pids) -> list[dict[str, Any]]:
    """Each node, as JSON. lag: records; None where unknown."""
    leader = leader_of(views)
    end = views[leader].end_offset if leader is not None else None
    nodes = []
    for node, port in ports.items():
        pid, view = pids.get(node), views.get(node)
        state = {"id": node, "address": f"{HOST}:{port}", "process": pid, "role": "down" if pid is None else "starting"}
        state |= {"epoch": None, "end_offset": None, "lag": None}
        if pid is not None and view is not None:
            lag = None if end is None else max(0, end - view.end_offset)
            state |= {"role": view.role, "epoch": view.epoch, "end_offset": view.end_offset, "lag": lag}
        nodes.append(state)
    return nodes


def rows(ports: dict[int, int], views: Views, pids: Pids) -> dict[int, tuple[str, ...]]:
    """Node -> its cells below COLUMNS."""
    return {
        state["id"]: tuple("-" if cell is None else str(cell) for cell in state.values())
        for state in states(ports, views, pids)
    }


def table_text(ports: dict[int, int], views: Views, pids: Pids) -> str:
    """The table as plain text."""
    lines = [COLUMNS, *rows(ports, views, pids).values()]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    cells = ((cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in cells)


class Lines:
    """One line for each change."""

    def __init__(self) -> None:
        self._printed = ""

    def begin(self, quorum: LocalQuorum, brokers: StockBrokers | None) -> None:
        say(*header(quorum, brokers), flush=True)

    def show(self, views: Views, pids: Pids) -> None:  # noqa: ARG002 - the table shows them
        line = summary(views)
        if line != self._printed:
            say(line, flush=True)
            self._printed = line

    def event(self, text: str, *, is_problem: bool = False) -> None:
        say(text, file=sys.stderr if is_problem else sys.stdout, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class Table:
    """A table that is drawn again in place, with the last events below it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(auto_refresh=False, transient=False, console=Console(file=unwrap_stream(sys.stdout)))
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
        self._events.append((plain_text(text), is_problem))
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
        if leader is not None:
            title += f", high watermark {views[leader].high_watermark}"
        table = RichTable(*COLUMNS, title=title, title_justify="left")
        for node, row in rows(self._ports, views, pids).items():
            view = views.get(node)
            style = "red" if pids.get(node) is None else "yellow"
            if pids.get(node) is not None and view is not None:
                style = "bold green" if node == leader else "yellow" if view.not_ready else ""
            table.add_row(*row, style=style)
        return table

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
