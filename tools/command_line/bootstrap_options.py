"""Options that tools of the argparse4j family share: the addresses of a cluster, and numbers."""

from __future__ import annotations

from records.java.java_forms import integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.command_line.arguments import Parser

SERVER_HELP = "A comma-separated list of host:port pairs to use for establishing the connection to the Kafka cluster."


def java_integer(text: str) -> int:
    """The value of an option of Java's type Integer; raises ValueError with argparse4j's text."""
    try:
        return integer(text)
    except ValueError as error:
        raise ValueError(f"could not convert '{text}' to Integer ({error})") from None


def add_bootstrap(
    parser: Parser, server_help: str, controller_help: str, *, letters: bool = False, required: bool = True
) -> None:
    """`--bootstrap-server` and `--bootstrap-controller`, which exclude each other. letters: with `-b` and `-C`."""
    names = (("--bootstrap-server", "-b"), ("--bootstrap-controller", "-C"))
    for flags, text in zip(names, (server_help, controller_help), strict=True):
        parser.add(*(flags if letters else flags[:1]), help=text, exclusive=0)
    if required:
        parser.one_of.add(0)
