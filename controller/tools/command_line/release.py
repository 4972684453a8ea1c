"""Which release of Kafka our tools speak as."""

KAFKA_VERSION = "4.3.1"
# The commit of that release, which its own tools show beside the version.
COMMIT_ID = "26b251a451ce941d"
