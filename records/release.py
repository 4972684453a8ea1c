"""The version of kraft-quorum, and the release of Kafka that its protocol and tools equal."""

VERSION = "0.1.0"
KAFKA_VERSION = "4.3.1"
# The commit of that release, which stock's tools print with the version.
KAFKA_COMMIT_ID = "26b251a451ce941d"


def version_text(command: str) -> str:
    """What a command prints for `--version`."""
    return f"{command} (kraft-quorum {VERSION}, Apache Kafka {KAFKA_VERSION})"
