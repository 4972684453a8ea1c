"""The metadata shell on a live quorum or on the directory of a running node (KIP-631).

The tree is brought up to date before each command. Its offset is printed on stderr for one command, and in the session
whenever it has changed.
"""

from __future__ import annotations

import sys

from tools.command_line.standard_streams import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from tools.kafka.shell.commands import Shell
    from tools.offline.image import Image

    class Source(Protocol):
        """A source of an image that `update` brings up to date."""

        image: Image

        def update(self) -> Image: ...


CLIENT_ID = "kafka-metadata-shell"
TIMEOUT_S = 30.0
USAGE = """\
usage: kafka-metadata-shell (--controllers HOST:PORT,… [--config FILE] | --directory DIR) [command …]

Shows the metadata of a live quorum, or of the directory of a running node, as a tree of names. Without a command it
reads commands from the terminal. Nothing is written, and no lock is taken.

  --controllers, -C HOST:PORT,…  controllers of the quorum; ID@HOST:PORT is taken too
  --config, -c FILE              properties of the client, as for Kafka's tools: security.protocol, ssl.…, sasl.…,
                                 config.providers, client.id, default.api.timeout.ms; other keys are ignored
  --directory, -d DIR            a log directory, or the __cluster_metadata-0 in it
"""


class _Wrong(Exception):
    """The arguments are invalid; the text is one line."""


def run(arguments: list[str]) -> int:
    """Run the shell with these arguments; returns the exit code, 1 with one line on stderr if nothing can be shown."""
    from records.java.config_error import ConfigError
    from tools.client.client_config import ClientConfig, read_client_config
    from tools.client.live_quorum import LiveQuorum
    from tools.client.quorum import NoLeader
    from tools.kafka.shell.paths import MissingChild
    from tools.offline.live_directory import LiveDirectory, NoMetadata
    from tools.offline.log_file import DamagedLog

    try:
        options, command = split(arguments)
        if "help" in options:
            sys.stdout.write(USAGE)
            return 0
        config = read_client_config(options["config"]) if "config" in options else ClientConfig()
        if "directory" in options:
            directory = LiveDirectory(options["directory"])
            return _show(directory, command, lambda: f"in {directory.directory}")
        addresses = addresses_in(options["controllers"])
        wait_s = TIMEOUT_S if config.timeout_s is None else config.timeout_s
        with LiveQuorum(addresses, config.client_id or CLIENT_ID, wait_s, config.security) as quorum:
            return _show(quorum, command, lambda: f"of cluster {quorum.cluster_id or '-'}, from {quorum.leader}")
    except BrokenPipeError:
        raise
    except (_Wrong, ConfigError, NoLeader, NoMetadata, DamagedLog, MissingChild) as error:
        complain(f"kafka-metadata-shell: {error}\n")
    except OSError as error:
        complain(f"kafka-metadata-shell: {error.filename or ''}: {error.strerror or error}\n")
    return 1


def split(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """The options by name, and the command's words. Raises _Wrong."""
    names = {
        "--controllers": "controllers", "-C": "controllers", "--config": "config", "-c": "config",
        "--directory": "directory", "-d": "directory",
    }  # fmt: skip
    options: dict[str, str] = {}
    words = list(arguments)
    while words and words[0].startswith("-"):
        flag, equals, value = words.pop(0).partition("=")
        if flag in {"-h", "--help"}:
            return {"help": ""}, []
        name = names.get(flag)
        if name is None:
            raise _Wrong(f"{flag} cannot be used here: use --snapshot alone; `--controllers -h` lists the options")
        if name in options:
            raise _Wrong(f"--{name} is given twice")
        if not equals and words and words[0] in {"-h", "--help"}:
            return {"help": ""}, []
        if not equals and not words:
            raise _Wrong(f"{flag} needs a value")
        options[name] = value if equals else words.pop(0)
    if ("controllers" in options) == ("directory" in options):
        raise _Wrong("either --controllers or --directory is needed")
    if "directory" in options and "config" in options:
        raise _Wrong("--config goes with --controllers")
    return options, words


def addresses_in(text: str) -> list[tuple[str, int]]:
    """The controllers that `HOST:PORT,…` or `ID@HOST:PORT,…` names. Raises _Wrong."""
    from controller.config.values.listeners import host_and_port

    addresses = []
    for part in text.split(","):
        address = host_and_port(part.strip().rpartition("@")[2])
        if address is None or not address[0] or not address[1]:
            raise _Wrong(f"--controllers {text}: {part.strip()!r} is not HOST:PORT")
        addresses.append((address[0].strip("[]"), address[1]))
    return addresses


def _show(source: Source, command: list[str], where: Callable[[], str]) -> int:
    """Run one command, or a session."""
    from tools.kafka.shell.commands import Shell
    from tools.kafka.shell.nodes import root

    image = source.update()
    problems = _Problems()
    problems.tell(image)
    if command:
        complain(f"offset {image.last_offset}, epoch {image.last_epoch}, {where()}\n")
        Shell(root(image), sys.stdout.write).run(command)
        return 0
    from tools.kafka.shell.session import interact

    shown = -1

    def renew(shell: Shell) -> bool:
        nonlocal shown
        from tools.client.quorum import NoLeader
        from tools.offline.live_directory import NoMetadata
        from tools.offline.log_file import DamagedLog

        try:
            image = source.update()
        except (NoLeader, NoMetadata, DamagedLog, OSError) as error:
            shell.line(f"not up to date: {error}")
            return False
        problems.tell(image)
        shell.root = root(image)
        if image.last_offset != shown:
            shown = image.last_offset
            shell.line(f"offset {shown}, epoch {image.last_epoch}, {where()}")
        return True

    interact(image, renew)
    return 0


class _Problems:
    """Prints each problem of an image once."""

    def __init__(self) -> None:
        self.image: Image | None = None
        self.count = 0

    def tell(self, image: Image) -> None:
        if image is not self.image:
            self.image, self.count = image, 0
        for problem in image.problems[self.count :]:
            complain(f"WARN {problem}\n")
        self.count = len(image.problems)
