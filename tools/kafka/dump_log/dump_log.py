"""kafka-dump-log: prints the contents of files of a log directory, valid or damaged."""

from __future__ import annotations

import sys

from records.java.java_forms import path
from records.release import KAFKA_VERSION
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.options import (
    OPTIONAL_VALUE,
    REQUIRED_VALUE,
    Option,
    OptionError,
    Options,
    help_table,
    read,
)
from tools.command_line.standard_streams import complain
from tools.offline.log_file import DamagedLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.kafka.dump_log.dump_findings import Findings
    from tools.kafka.dump_log.dump_lines import JsonLines, TextLines

DESCRIPTION = (
    "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly "
    "corrupt log segment."
)


def _size(text: str) -> int:
    from records.java.java_forms import integer

    return integer(text)


_DECODER = (
    "This class should implement org.apache.kafka.tools.api.Decoder trait. Custom jar should be available in "
    "kafka/libs directory."
)
_STRING_DECODER = "org.apache.kafka.tools.api.StringDecoder"
OPTIONS = (
    Option("help", "Print usage information."),
    Option("version", "Display Kafka version."),
    Option(
        "print-data-log",
        "If set, printing the messages content when dumping data logs. Automatically set if any decoder option is "
        "specified.",
    ),
    Option("verify-index-only", "If set, just verify the index log without printing its content."),
    Option(
        "index-sanity-check",
        "If set, just checks the index sanity without printing its content. This is the same check that is executed on "
        "broker startup to determine if an index needs rebuilding or not.",
    ),
    Option(
        "files",
        "REQUIRED: The comma separated list of data and index log files to be dumped.",
        value=REQUIRED_VALUE,
        described_as="file1, file2, ...",
    ),
    Option(
        "max-message-size",
        "Size of largest message.",
        value=REQUIRED_VALUE,
        type_name="Integer",
        described_as="size",
        default=5 * 1024 * 1024,
        convert=_size,
    ),
    Option(
        "max-bytes",
        "Limit the amount of total batches read in bytes avoiding reading the whole .log file(s).",
        value=REQUIRED_VALUE,
        type_name="Integer",
        described_as="size",
        default=(1 << 31) - 1,
        convert=_size,
    ),
    Option(
        "deep-iteration",
        "If set, uses deep instead of shallow iteration. Automatically set if print-data-log is enabled.",
    ),
    Option(
        "value-decoder-class",
        f"If set, used to deserialize the messages. {_DECODER}",
        value=OPTIONAL_VALUE,
        default=_STRING_DECODER,
    ),
    Option(
        "key-decoder-class",
        f"If set, used to deserialize the keys. {_DECODER}",
        value=OPTIONAL_VALUE,
        default=_STRING_DECODER,
    ),
    Option("offsets-decoder", "If set, log data will be parsed as offset data from the __consumer_offsets topic."),
    Option(
        "transaction-log-decoder",
        "If set, log data will be parsed as transaction metadata from the __transaction_state topic.",
    ),
    Option("cluster-metadata-decoder", "If set, log data will be parsed as cluster metadata records."),
    Option(
        "remote-log-metadata-decoder",
        "If set, log data will be parsed as TopicBasedRemoteLogMetadataManager (RLMM) metadata records. Instead, the "
        "value-decoder-class option can be used if a custom RLMM implementation is configured.",
    ),
    Option(
        "share-group-state-decoder",
        "If set, log data will be parsed as share group state data from the __share_group_state topic.",
    ),
    Option("skip-record-metadata", "Skip metadata when printing records. This flag also skips control records."),
)
# Stock does not have this option; help does not list it, so that help equals stock's.
OURS = (Option("json", "One JSON object a line: each batch, each record, each finding."),)

# Topics whose records this tool cannot decode, by the option of stock that decodes them.
UNKNOWN_TOPICS = {
    "offsets-decoder": "__consumer_offsets",
    "transaction-log-decoder": "__transaction_state",
    "remote-log-metadata-decoder": "__remote_log_metadata",
    "share-group-state-decoder": "__share_group_state",
}
PRINTING = ("print-data-log", "cluster-metadata-decoder", "value-decoder-class", "key-decoder-class")


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-dump-log")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    try:
        options = read((*OPTIONS, *OURS), arguments)
        if not arguments or options.has("help"):
            return _usage(DESCRIPTION)
        if options.has("version"):
            sys.stdout.write(f"{KAFKA_VERSION}\n")
            return 0
        if not options.has("files"):
            return _usage('Missing required argument "[files]"')
        unknown = next((name for name in UNKNOWN_TOPICS if options.has(name)), None)
        if unknown is not None:
            complain(
                f"--{unknown}: the records of {UNKNOWN_TOPICS[unknown]} cannot be decoded by this tool, only those of "
                "__cluster_metadata (--cluster-metadata-decoder); --print-data-log prints the values of any as text.\n"
            )
            return 1
        _dump(options)
    except OptionError as error:
        complain(f'Exception in thread "main" {error}\n')
        return 1
    except BrokenPipeError:
        raise
    except (OSError, DamagedLog) as error:
        complain(uncaught(error).text())
        return 1
    except Uncaught as error:
        complain(error.text())
        return 1
    return 0


def _usage(message: str) -> int:
    complain(f"{message}\n{help_table(OPTIONS)}")
    return 1


def _dump(options: Options) -> None:
    from tools.kafka.dump_log.dump_findings import Findings
    from tools.kafka.dump_log.dump_lines import JsonLines, TextLines

    findings = Findings()
    lines = JsonLines() if options.has("json") else TextLines()
    for name in split(options.value("files")):
        _dump_file(path(name), options, lines, findings)
    lines.findings(findings)


def split(files: str) -> list[str]:
    """The files of `a,b`; empty ones at the end are dropped, as `String.split` does."""
    names = files.split(",")
    while len(names) > 1 and not names[-1]:
        names.pop()
    return names if names != [""] or not files else []


def _dump_file(file: str, options: Options, lines: JsonLines | TextLines, findings: Findings) -> None:
    lines.note(f"Dumping {file}", file=file)
    name = file.rpartition("/")[2]
    _, dot, suffix = name.rpartition(".")
    match f"{dot}{suffix}":
        case ".log" | ".checkpoint":
            from tools.kafka.dump_log.dump_batches import dump_batches

            dump_batches(file, options, any(map(options.has, PRINTING)), lines, findings)
        case ".index" | ".timeindex" | ".snapshot" | ".txnindex":
            from tools.kafka.dump_log.dump_indexes import dump_index_file

            dump_index_file(file, suffix, options, lines, findings)
        case _:
            complain(f"Ignoring unknown file {file}\n")
