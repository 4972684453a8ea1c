"""Input from a terminal: prompt_toolkit edits and completes the line and keeps the history of this session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.history import InMemoryHistory

from tools.kafka.shell.completion import completions
from tools.kafka.shell.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from tools.kafka.shell.commands import Shell


class ShellCompleter(Completer):
    """Gives the completions of `completion` to prompt_toolkit."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        typed = words(document.text_before_cursor)
        for text in completions(self.shell, typed):
            yield Completion(text, start_position=-len(typed[-1]))


def prompting(shell: Shell, prompt: str) -> Callable[[], str]:
    """A function that reads a line from the user; it raises KeyboardInterrupt for Ctrl-C and EOFError for Ctrl-D."""
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(), completer=ShellCompleter(shell), complete_while_typing=False
    )
    return lambda: session.prompt(prompt)
