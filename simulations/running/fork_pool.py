"""Mutants in forks: a process that has imported a level forks one for each task, and puts the mutant into that.

A fresh process would spend up to a second on imports before its first world. Where the mutant changes more than the
code of functions that have not run yet (a table, what is imported, a decorator), a fresh one it must be.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

from simulations.levels.table import load
from simulations.mutants.generated import source_of
from simulations.mutants.patching import Imported, install, mutated
from simulations.mutants.table import find

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.mutants.row import Mutant
    from simulations.running.workers import Row, Task


PRODUCT = {"controller", "raft", "records"}


class Nursery:
    """Forks of this process, one at a time. It must have no threads, nothing of the product, and no world behind it."""

    def __init__(self, perform: Callable[[Task], Row], failed: Callable[[Task, str], Row]) -> None:
        early = [name for name in sys.modules if name.partition(".")[0] in PRODUCT]
        assert not early, f"{early} are imported already: who knows what of them has run?"
        self._perform = perform
        self._failed = failed
        self._imported = Imported()
        self._levels: set[str] = set()
        self._pid = 0

    def row(self, task: Task) -> bytes:
        """What comes of a task with a mutant, pickled; of None where it needs a fresh process."""
        if task.level not in self._levels:
            try:
                self._imported.load(lambda: load(task.level))
            except ValueError as error:
                return pickle.dumps(self._failed(task, str(error)))
            self._levels.add(task.level)
        ours, theirs = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            self._be_child(task, theirs)
        os.close(theirs)
        with os.fdopen(ours, "rb") as file:
            told = file.read()
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        code = os.waitstatus_to_exitcode(status)
        return told if code == 0 else pickle.dumps(self._failed(task, f"the worker ended with {code}"))

    def end(self, _number: int, _frame: Any) -> None:
        """A signal's handler: nobody waits for a row any more."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
        os._exit(0)

    def _be_child(self, task: Task, pipe: int) -> None:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            with os.fdopen(pipe, "wb") as file:
                file.write(pickle.dumps(self._row(task)))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _row(self, task: Task) -> Row | None:
        try:
            if not self._plant(find(task.mutant_id)):
                return None
        except ValueError as error:
            return self._failed(task, str(error))
        row = self._perform(task._replace(mutant_id=""))
        return row._replace(task=task, cpu_s=time.process_time())

    def _plant(self, mutant: Mutant) -> bool:
        """Put it into this process: at once where its modules are imported, else when they are."""
        here = dict.fromkeys(edit.module for edit in mutant.edits if edit.module in sys.modules)
        sources = {module: source_of(module) for module in here}
        changed = {
            module: (source, mutated(source, [edit for edit in mutant.edits if edit.module == module]))
            for module, source in sources.items()
        }
        if not self._imported.replace(changed):
            return False
        install(mutant._replace(edits=tuple(edit for edit in mutant.edits if edit.module not in here)))
        return True
