"""The initial voters of a dynamic quorum: `id@host:port:directoryId`, comma-separated (KIP-853)."""

from __future__ import annotations

from records.java.java_forms import integer
from records.uuids import parse_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from records.control import VotersRecord

KRAFT_VERSIONS = (0, 1)


class VoterError(ValueError):
    """A malformed list of voters, with the text of Kafka's parser. cause: that of Java's exception."""

    def __init__(self, message: str, cause: str | None = None) -> None:
        super().__init__(message)
        self.cause = cause


class InitialVoter:
    """A controller: id, host, port, and the id of its metadata directory."""

    __slots__ = ("directory_id", "host", "node_id", "port")

    def __init__(self, node_id: int, host: str, port: int, directory_id: bytes) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.directory_id = directory_id


def parse_voters(text: str) -> list[InitialVoter]:
    """The voters in a list, ascending by id; raises VoterError with the text of Kafka's parser."""
    voters = [parse_voter(part) for part in text.strip().split(",") if part]
    if not voters:
        raise VoterError("No voters given.")
    by_id: dict[int, InitialVoter] = {}
    for voter in voters:
        if voter.node_id in by_id:
            raise VoterError(f"Node id {voter.node_id} was specified more than once.")
        by_id[voter.node_id] = voter
    return [by_id[node_id] for node_id in sorted(by_id)]


def parse_voter(text: str) -> InitialVoter:
    """One voter of the list; raises VoterError."""
    number, at, rest = text.strip().partition("@")
    if not at:
        raise VoterError("No @ found in dynamic voter string.")
    if not number:
        raise VoterError("Invalid @ at beginning of dynamic voter string.")
    node_id = _integer(number, "node id")
    if node_id < 0:
        raise VoterError(f"Invalid negative node id {node_id} in dynamic voter string.")
    if not rest:
        raise VoterError("No hostname found after node id.")
    if rest.startswith("["):
        host, bracket, rest = rest[1:].partition("]")
        if not bracket:
            raise VoterError("Hostname began with left bracket, but no right bracket was found.")
    else:
        host, colon, rest = rest.partition(":")
        if not colon:
            raise VoterError("No colon following hostname could be found.")
        rest = f":{rest}"
    if not rest.startswith(":"):
        raise VoterError("Port section must start with a colon.")
    port_text, colon, directory_id = rest[1:].partition(":")
    if not colon:
        raise VoterError("No colon following port could be found.")
    port = _integer(port_text, "port")
    if not 0 <= port <= 65535:
        raise VoterError(f"Invalid port {port} in dynamic voter string.")
    try:
        return InitialVoter(node_id, java_host(host), port, parse_uuid(directory_id))
    except ValueError as error:
        raise VoterError(
            "Failed to parse directory ID in dynamic voter string.", f"java.lang.IllegalArgumentException: {error}"
        ) from None


def _integer(text: str, what: str) -> int:
    try:
        return integer(text)
    except ValueError as error:
        raise VoterError(
            f"Failed to parse {what} in dynamic voter string.", f"java.lang.NumberFormatException: {error}"
        ) from None


def java_host(host: str) -> str:
    """The host as Java's `InetSocketAddress` prints it: IPv6 addresses in full, an empty host as localhost."""
    if ":" not in host:
        return host or "localhost"
    from socket import AF_INET6, inet_pton

    try:
        address = inet_pton(AF_INET6, host)
    except OSError:
        return host
    return ":".join(f"{int.from_bytes(address[i : i + 2], 'big'):x}" for i in range(0, 16, 2))


def voters_record(voters: list[InitialVoter], listener: str) -> VotersRecord:
    """The record of the voters; listener: the name of the controllers' first listener."""
    from records.control import VotersRecord

    of_voter = VotersRecord.Voter
    versions = of_voter.KRaftVersionFeature(
        min_supported_version=KRAFT_VERSIONS[0], max_supported_version=KRAFT_VERSIONS[1]
    )
    return VotersRecord(
        version=0,
        voters=tuple(
            of_voter(
                voter_id=voter.node_id,
                voter_directory_id=voter.directory_id,
                endpoints=(of_voter.Endpoint(name=listener.upper(), host=voter.host, port=voter.port),),
                kraft_version_feature=versions,
            )
            for voter in voters
        ),
    )
