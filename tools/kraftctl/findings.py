"""What `kraftctl doctor` finds: one line each, with a remedy."""

from __future__ import annotations

from typing import NamedTuple

from tools.kraftctl.plain_streams import GREEN, RED, YELLOW
from tools.kraftctl.terminal import colour_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

OK, WARNING, ERROR = "ok", "warning", "error"
_COLOURS = {OK: GREEN, WARNING: YELLOW, ERROR: RED}


class Finding(NamedTuple):
    """level: of OK, WARNING and ERROR. where: a file, an address, a key. remedy: empty where nothing is to be done."""

    level: str
    where: str
    text: str
    remedy: str = ""

    def line(self) -> str:
        remedy = f"; remedy: {self.remedy}" if self.remedy else ""
        return f"{colour_text(f'{self.level:<7}', _COLOURS[self.level])}  {self.where}: {self.text}{remedy}"


class Obstacle(Finding):
    """An error that the rest of the advice rests on: it is mended first. The remedy is a command, or a sentence."""

    __slots__ = ()

    @property
    def is_mended_by_command(self) -> bool:
        return self.remedy.startswith(("chown ", "chmod "))

    def advice(self) -> str:
        """A line of a block to copy."""
        return self.remedy if self.is_mended_by_command else f"# {self.where}: {self.text}: {self.remedy}"


def exit_code(findings: Iterable[Finding]) -> int:
    """0: nothing is wrong. 1: warnings. 2: errors."""
    levels = {finding.level for finding in findings}
    return 2 if ERROR in levels else 1 if WARNING in levels else 0
