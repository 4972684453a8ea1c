"""What a bundle is about: a node by its configuration, or a directory alone; where its parts are."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from controller.config.edges import GRPC, HTTP
from controller.config.values.addresses import parse_address
from records.java.config_error import ConfigError
from tools.config_file import read_config, read_properties
from tools.kraftctl.debug.redaction import jaas_secrets, secrets_of
from tools.kraftctl.nodes.http_page import Caller, HttpPage

# pathlib costs 10 ms
# ruff: noqa: PTH123

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.config.node import NodeConfig

SECRET_FILES = (HTTP.token, GRPC.token, "kraft.scram.credentials.path", "kraft.jaas.config.path")
_FILE_BYTES_MAX = 1 << 20


class Subject(NamedTuple):
    """config_path, config: None for a directory alone; config is None too where the file is wrong, `error` says why.

    directory: of the metadata log, with `__cluster_metadata-0` in it; None where the configuration is wrong.
    """

    config_path: str | None
    config: NodeConfig | None
    directory: str | None
    error: str = ""

    @property
    def name(self) -> str:
        """The part of the archive's name that says what is in it."""
        return "directory" if self.config is None else f"node-{self.config.node_id}"

    def page(self, seconds: float) -> HttpPage | None:
        """The HTTP port of the node; None without one."""
        address = None if self.config is None else parse_address(self.config.text(HTTP.listener) or "")
        if self.config is None or address is None:
            return None
        return HttpPage(address, Caller().or_of(self.config), seconds)

    def secrets(self) -> Iterator[str]:
        """All secrets of the configuration and of the files that it names."""
        if self.config is None:
            with suppress(ConfigError):  # of a malformed file no value is in the bundle
                yield from () if self.config_path is None else secrets_of(read_properties(self.config_path), ())
            return
        yield from secrets_of(self.config.originals, self.config.looked_up)
        for key in SECRET_FILES:
            path = self.config.text(key)
            if path is None:
                continue
            try:
                with open(path, "rb") as file:
                    text = file.read(_FILE_BYTES_MAX).decode(errors="replace")
            except OSError:
                continue  # no secret of it can be in the bundle by way of this tool
            yield from jaas_secrets(text.replace(",", " ").replace("]", " "))
            if key in {HTTP.token, GRPC.token}:
                yield from text.split()

    def names(self) -> Iterator[str]:
        """The names in the configuration: hosts and listeners."""
        if self.config is None:
            return
        for endpoint in (*self.config.listeners, *self.config.advertised_listeners):
            yield endpoint.host or ""
            yield endpoint.name
        for host, _ in (*self.config.voters.values(), *self.config.bootstrap_servers):
            yield host


def subject_of(config: str | None, directory: str | None) -> Subject:
    """From the options, of which one is given. Raises NotALog, OSError for a directory or file that is not there."""
    if directory is not None:
        from tools.offline.examined import partition_of

        return Subject(None, None, partition_of(directory)[0])
    assert config is not None, "one of the options is required"
    try:
        node_config = read_config(config)
    except ConfigError as error:
        return Subject(config, None, None, str(error))
    return Subject(config, node_config, node_config.metadata_log_dir)
