"""`kraftctl debug bundle`: its arguments; the module of the verb does the work."""

from __future__ import annotations

from tools.kraftctl.running import running
from tools.kraftctl.terminal import add_verb, parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

SECONDS, EVERY_S, RECORDS = 60.0, 10.0, 1000
SECONDS_MAX = 3600.0
RECORDS_MAX = 100_000


def run(arguments: list[str]) -> int:
    """The exit code of the verb."""
    options = arguments_parser().parse_args(arguments)
    return running("debug bundle", lambda: _bundle(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl debug",
        "Collect what a ticket needs.",
        "kraftctl debug bundle -c /etc/kafka/controller.properties",
        "kraftctl debug bundle --directory /var/lib/kafka/metadata --remove-names",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    bundle = add_verb(
        verbs, "bundle", "write one archive for a ticket, without secrets",
        "Write one archive for a ticket: versions, configuration, the quorum as its leader and each voter see it,\n"
        "metrics of a minute, ends of logs, stacks of the node's threads, disk and fsync, what kraftctl doctor finds,\n"
        "the last records of the metadata log. It runs beside the node, as its user or root; of a node that does not\n"
        "run it has what the disk says. Secrets are hidden; with --remove-names, names of hosts, topics and users get\n"
        "pseudonyms. A part that fails is an entry of manifest.json. The file is for its owner alone (0600), and no\n"
        "file is replaced. Nothing is changed; 20 writes of 4 KiB to a file without a name measure the disk.\n"
        "Exit code 0: written; 1: not written; 2: written, and a part failed.",
        "kraftctl debug bundle -c /etc/kafka/controller.properties --log /var/log/kafka/controller.log",
        "kraftctl debug bundle -c /etc/kafka/controller.properties --remove-names --out /tmp/ticket-4711.tar.gz",
        "kraftctl debug bundle --directory /var/lib/kafka/metadata --no-probe",
    )  # fmt: skip
    what = bundle.add_mutually_exclusive_group(required=True)
    what.add_argument("-c", "--config", metavar="FILE", help="the node's controller.properties")
    what.add_argument("--directory", metavar="DIR", help="a log directory alone, also of a stock controller")
    bundle.add_argument("--out", metavar="FILE", help="the archive; default: kraft-bundle-….tar.gz here")
    bundle.add_argument(
        "--log", action="append", default=[], metavar="FILE", help="a file that has the node's log (repeatable)"
    )
    bundle.add_argument("--remove-names", action="store_true", help="give names of hosts, topics and users pseudonyms")
    bundle.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="SECONDS",
        help="for how long metrics are read; default: %(default)g",
    )  # fmt: skip
    bundle.add_argument(
        "--every", type=float, default=EVERY_S, metavar="SECONDS",
        help="the time between two readings of the metrics; default: %(default)g",
    )  # fmt: skip
    bundle.add_argument(
        "--records", type=int, default=RECORDS, metavar="COUNT",
        help="of the end of the metadata log; default: %(default)s",
    )  # fmt: skip
    bundle.add_argument("--no-probe", action="store_true", help="do not measure the disk")
    bundle.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _bundle(options: argparse.Namespace) -> int:
    from records.java.config_error import ConfigError
    from tools.kraftctl.debug import bundle
    from tools.offline.examined import NotALog

    for name, value, least, most in (
        ("--seconds", options.seconds, 0, SECONDS_MAX),
        ("--every", options.every, 0.1, SECONDS_MAX),
        ("--records", options.records, 1, RECORDS_MAX),
    ):
        if not least <= value <= most:
            raise ConfigError(f"{name} {value:g}: a number from {least:g} to {most:g} is expected")
    try:
        return bundle.run(options)
    except NotALog as error:
        raise OSError(str(error)) from None
