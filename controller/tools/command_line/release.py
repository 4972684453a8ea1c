"""The release of Kafka whose tools ours equal."""

KAFKA_VERSION = "4.3.1"
# The commit of that release, which stock's tools print with the version.
COMMIT_ID = "26b251a451ce941d"
