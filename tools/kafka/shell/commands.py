"""The commands of the shell: their arguments and their output."""

from __future__ import annotations

from tools.command_line.argument_reader import parse
from tools.command_line.arguments import UNBOUNDED, ArgumentError, HelpShown, Parser
from tools.command_line.standard_streams import one_line
from tools.kafka.shell.paths import MissingChild, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tools.command_line.arguments import Arguments
    from tools.kafka.shell.nodes import Directory


class Exit(Exception):
    """The user asked to leave."""


class Shell:
    """The state that commands use. history: the lines typed so far, None outside of a session.

    width: of the screen in columns; 0 to list one name per line.
    """

    def __init__(
        self, root: Directory, write: Callable[[str], object], history: list[str] | None = None, width: int = 0
    ) -> None:
        self.root = root
        self.write = write
        self.history = history
        self.width = width
        self.working_directory = "/"

    def line(self, text: str) -> None:
        self.write(f"{one_line(text)}\n")

    def run(self, words: Sequence[str]) -> None:
        """Run a command; empty words at its end are ignored. Raises MissingChild and Exit."""
        given = list(words)
        while given and not given[-1]:
            given.pop()
        if not given:
            return
        try:
            arguments = parse(command_parser(self.history is not None), given)
        except HelpShown:
            return
        except ArgumentError as error:
            self.line(str(error))
            return
        command = arguments.command
        if command != given[0]:
            self.line(f"invalid choice: '{given[0]}': did you mean '{command}'?")
            return
        COMMANDS[command].run(self, arguments)


class Command:
    """add: adds the arguments to its parser. interactive: only for a session."""

    __slots__ = ("add", "description", "interactive", "run")

    def __init__(
        self,
        description: str,
        run: Callable[[Shell, Arguments], None],
        add: Callable[[Parser], object] = lambda _: None,
        *,
        interactive: bool = False,
    ) -> None:
        self.description = description
        self.run = run
        self.add = add
        self.interactive = interactive


def command_parser(interactive: bool) -> Parser:
    """The parser of a command line."""
    parser = Parser("", add_help=False)
    for name, command in COMMANDS.items():
        if interactive or not command.interactive:
            command.add(parser.add_command(name, command.description))
    return parser


def effective(paths: list[str]) -> list[str]:
    """The paths that are not empty; the working directory if there are none."""
    return [path for path in paths if path] or ["."]


def cat(shell: Shell, arguments: Arguments) -> None:
    for target in arguments.targets:
        exists = False
        for entry in find(shell.root, shell.working_directory, target):
            exists = True
            shell.line(entry.node if isinstance(entry.node, str) else f"cat: {target}: Is a directory")
        if not exists:
            shell.line(f"cat: {target}: No such file or directory.")


def cd(shell: Shell, arguments: Arguments) -> None:
    target = arguments.target if arguments.target is not None else "/"
    exists = False
    for entry in list(find(shell.root, shell.working_directory, target)):
        exists = True
        if isinstance(entry.node, str):
            shell.line(f"cd: {target}: not a directory.")
        else:
            shell.working_directory = entry.absolute
    if not exists:
        shell.line(f"cd: {target}: no such directory.")


def leave(_shell: Shell, _arguments: Arguments) -> None:
    raise Exit


def find_all(shell: Shell, arguments: Arguments) -> None:
    for path in effective(arguments.paths):
        exists = False
        for entry in find(shell.root, shell.working_directory, path):
            exists = True
            for line in walk(path, entry.node):
                shell.line(line)
        if not exists:
            shell.line(f"find: {path}: no such file or directory.")


def walk(path: str, node: Directory | str) -> Iterator[str]:
    """The paths of a node and its descendants, each beginning with the path as typed. Raises MissingChild."""
    yield path
    if isinstance(node, str):
        return
    for name in node.sorted_names():
        child = node.child(name)
        if child is None:
            raise MissingChild(f"Expected {name} to be a valid child of {path}, but it was not.")
        yield from walk(path + name if path == "/" else f"{path}/{name}", child)


def show_help(shell: Shell, _arguments: Arguments) -> None:
    shell.write("Welcome to the Apache Kafka metadata shell.\n\n")
    shell.write(command_parser(True).help_text())


def show_history(shell: Shell, arguments: Arguments) -> None:
    lines = shell.history or []
    count = len(lines) if arguments.numEntriesToShow is None else max(arguments.numEntriesToShow, 0)
    for number in range(max(len(lines) - count, 0), len(lines)):
        shell.line(f"{number: 5d}  {lines[number]}")


def ls(shell: Shell, arguments: Arguments) -> None:
    from tools.kafka.shell.columns import listing

    leaves = []
    directories = []
    for target in effective(arguments.targets):
        exists = False
        for entry in find(shell.root, shell.working_directory, target):
            exists = True
            if isinstance(entry.node, str):
                leaves.append(one_line(entry.last_name))
            else:
                directories.append((one_line(entry.last_name), [*map(one_line, entry.node.sorted_names())]))
        if not exists:
            shell.line(f"ls: {target}: no such file or directory.")
    shell.write(listing(leaves, directories, shell.width))


def man(shell: Shell, arguments: Arguments) -> None:
    name = arguments.cmd[0]
    command = COMMANDS.get(name)
    if command is None:
        shell.line(f"man: unknown command {name}. Type help to get a list of commands.")
        return
    parser = Parser(name, add_help=False)
    command.add(parser)
    shell.write(f"{name}: {command.description}\n\n{parser.help_text()}")


def pwd(shell: Shell, _arguments: Arguments) -> None:
    shell.line(shell.working_directory)


def tree(shell: Shell, arguments: Arguments) -> None:
    for target in arguments.targets:
        exists = False
        for entry in find(shell.root, shell.working_directory, target):
            exists = True
            for line in branches(entry.node, ""):
                shell.line(line)
        if not exists:
            shell.line(f"tree: {target}: No such file or directory.")


def branches(node: Directory | str, indent: str) -> Iterator[str]:
    """The lines of a node and its descendants."""
    if isinstance(node, str):
        yield f"{indent}{node}"
        return
    for name in node.sorted_names():
        yield f"{indent}{name}:"
        child = node.child(name)
        if child is not None:
            yield from branches(child, f"{indent}  ")


def count(text: str) -> int:
    """A number of entries; raises ValueError with argparse4j's text if it is not a number."""
    from records.java.java_forms import integer

    try:
        return integer(text)
    except ValueError as error:
        raise ValueError(f"could not convert '{text}' to Integer ({error})") from None


# Sorted by name, as in the help.
COMMANDS = {
    "cat": Command(
        "Show the contents of metadata files.",
        cat,
        lambda parser: parser.add("targets", nargs=(1, UNBOUNDED), help="The metadata files to display."),
    ),
    "cd": Command(
        "Set the current working directory.",
        cd,
        lambda parser: parser.add("target", nargs=(0, 1), help="The directory to change to."),
        interactive=True,
    ),
    "exit": Command("Exit the metadata shell.", leave, interactive=True),
    "find": Command(
        "Search for nodes in the directory hierarchy.",
        find_all,
        lambda parser: parser.add("paths", nargs=(0, UNBOUNDED), help="The paths to start at."),
    ),
    "help": Command("Display this help message.", show_help, interactive=True),
    "history": Command(
        "Print command history.",
        show_history,
        lambda parser: parser.add(
            "numEntriesToShow", nargs=(0, 1), convert=count, help="The number of entries to show."
        ),
        interactive=True,
    ),
    "ls": Command(
        "List metadata nodes.",
        ls,
        lambda parser: parser.add("targets", nargs=(0, UNBOUNDED), help="The metadata node paths to list."),
    ),
    "man": Command(
        "Show the help text for a specific command.",
        man,
        lambda parser: parser.add("cmd", nargs=(1, 1), help="The command to get help text for."),
        interactive=True,
    ),
    "pwd": Command("Print the current working directory.", pwd, interactive=True),
    "tree": Command(
        "Show the contents of metadata nodes in a tree structure.",
        tree,
        lambda parser: parser.add("targets", nargs=(1, UNBOUNDED), help="The metadata nodes to display."),
    ),
}
