"""Tasks with mutants in forks: a process that has imported a level forks for each task, and the child puts the mutant
in.

A fresh process would spend up to 1 s on imports before its first world. A fresh process is still needed where the
mutant changes more than the code of functions that have not run yet: a table, an import, a decorator.
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
from simulations.mutants.module_names import imported_name, repository_name
from simulations.mutants.patching import Imported, apply_edits, install
from simulations.mutants.table import find
from simulations.running.tasks import failed_row, perform

if TYPE_CHECKING:
    from simulations.mutants.row import Mutant
    from simulations.running.tasks import Row, Task


PRODUCT = {"controller", "raft", "records"}


class ForkPool:
    """Forks this process, one child at a time. The process must have no threads, must not have imported the product,
    and must not have run a world.
    """

    def __init__(self) -> None:
        early = [name for name in sys.modules if repository_name(name).partition(".")[0] in PRODUCT]
        assert not early, f"{early} are imported already, and what has run of them is unknown"
        self._imported = Imported()
        self._levels: set[str] = set()
        self._pid = 0

    def row(self, task: Task) -> bytes:
        """The pickled result of a task with a mutant; pickled None where it needs a fresh process."""
        if task.level not in self._levels:
            try:
                self._imported.load(lambda: load(task.level))
            except ValueError as error:
                return pickle.dumps(failed_row(task, str(error)))
            self._levels.add(task.level)
        ours, theirs = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            self._be_child(task, theirs)
        os.close(theirs)
        with os.fdopen(ours, "rb") as file:
            result = file.read()
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        code = os.waitstatus_to_exitcode(status)
        return result if code == 0 else pickle.dumps(failed_row(task, f"the worker ended with {code}"))

    def end(self, _number: int, _frame: Any) -> None:
        """A signal handler: end the child and this process, because the caller no longer waits for a result."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
        os._exit(0)

    def _be_child(self, task: Task, pipe: int) -> None:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            with os.fdopen(pipe, "wb") as file:
                file.write(pickle.dumps(self._row(task)))
        except BaseException:  # a child process never returns into the code of its parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _row(self, task: Task) -> Row | None:
        try:
            if not self._put_in(find(task.mutant_id)):
                return None
        except ValueError as error:
            return failed_row(task, str(error))
        row = perform(task._replace(mutant_id=""))
        return row._replace(task=task, cpu_s=time.process_time())

    def _put_in(self, mutant: Mutant) -> bool:
        """Put a mutant in: at once in modules that are imported, and by the import hook in the others.

        Returns False where that needs a fresh process.
        """
        here = dict.fromkeys(edit.module for edit in mutant.edits if imported_name(edit.module) in sys.modules)
        sources = {module: source_of(module) for module in here}
        changed = {
            module: (source, apply_edits(source, [edit for edit in mutant.edits if edit.module == module]))
            for module, source in sources.items()
        }
        if not self._imported.replace(changed):
            return False
        install(mutant._replace(edits=tuple(edit for edit in mutant.edits if edit.module not in here)))
        return True
