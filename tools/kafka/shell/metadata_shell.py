"""kafka-metadata-shell: shows the metadata in a checkpoint, or in a segment of the log, as a tree of names.

With `--controllers` or `--directory` as its first option it shows a live quorum or a running node's directory
(`tools.kafka.shell.live_shell`); otherwise the help and all texts are those of stock's tool.
"""

from __future__ import annotations

import sys

from records.java.java_forms import path
from tools.command_line.argument_reader import parse
from tools.command_line.arguments import UNBOUNDED, ArgumentError, HelpShown, Parser, error_text
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.own_options import LIVE_SHELL
from tools.command_line.standard_streams import complain
from tools.offline.log_file import DamagedLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.offline.image import Image

# One of them is the first argument.
LIVE = {name for option in LIVE_SHELL for name in option.names}


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-metadata-shell")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code, which is 0 also if the command fails, as in stock."""
    if any(word.partition("=")[0] in LIVE for word in arguments[:1]):
        from tools.kafka.shell.live_shell import run as run_live

        return run_live(arguments)
    try:
        given = parse(parser(), arguments)
    except HelpShown:
        return 1
    except ArgumentError as error:
        complain(error_text(error))
        return 1
    try:
        return _run(given.snapshot, given.values["command"])
    except Uncaught as error:
        return _report_unexpected(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        # Stock opens the file on another thread, so that its exceptions are wrapped.
        return _report_unexpected(_wrap(uncaught(error)))
    except DamagedLog as error:
        return _report_unexpected(uncaught(error))


def parser() -> Parser:
    """The arguments of the tool; the texts are those of its help."""
    top = Parser("kafka-metadata-shell", description="The Apache Kafka metadata shell")
    top.add("--snapshot", "-s", required=True, help="The metadata snapshot file to read.")
    top.add("command", nargs=(0, UNBOUNDED), help="The command to run.")
    return top


def _run(snapshot: str, command: list[str]) -> int:
    from tools.kafka.shell.paths import MissingChild
    from tools.offline.lock import DirectoryLocked, lock_where_lockable

    file = path(snapshot)
    try:
        with lock_where_lockable(parent(parent(file))):
            image = _load(file)
            if not command:
                from tools.kafka.shell.session import interact

                interact(image)
            else:
                _run_once(image, command)
    except DirectoryLocked as error:
        raise Uncaught("java.lang.RuntimeException", str(error)) from None
    except MissingChild as error:
        raise Uncaught("java.lang.RuntimeException", str(error)) from None
    return 0


def _load(file: str) -> Image:
    from tools.command_line.progress import SHOW_AFTER_S_OF_KAFKA, Progress
    from tools.offline.load import load_image

    with Progress("Loading", 0, after_s=SHOW_AFTER_S_OF_KAFKA) as progress:
        image = load_image(file, progress.show)
    for problem in image.problems:
        complain(f"WARN {problem}\n")
    return image


def _run_once(image: Image, command: list[str]) -> None:
    from tools.kafka.shell.commands import Shell
    from tools.kafka.shell.nodes import root

    Shell(root(image), sys.stdout.write).run(command)


def parent(file: str) -> str:
    """The directory of a file as in `File.getParentFile`; the path itself if it has no parent."""
    directory, slash, _ = file.rpartition("/")
    return directory or slash or file


def _report_unexpected(error: Uncaught) -> int:
    lines = error.text().removeprefix('Exception in thread "main" ')
    complain(f"Unexpected error: {error.message or ''}\n{lines}")
    return 1


def _wrap(error: Uncaught) -> Uncaught:
    return Uncaught("java.util.concurrent.ExecutionException", str(error), error)
