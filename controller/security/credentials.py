"""Credentials of SCRAM: from a file of this node, from the metadata log, and those of delegation tokens (KIP-48)."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any

from controller.handlers.security.delegation_tokens import Secrets
from controller.state.tables.scram import MECHANISMS
from raft.network.mechanisms import ITERATIONS_MIN, Credential, credential_of_password, encode_base64
from raft.security.watched_file import WatchedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.config.node import NodeConfig
    from controller.state.state import State

    ByUser = Mapping[tuple[str, str], Credential]

FILE_KEY = "kraft.scram.credentials.path"
_SALT_BYTES = 16
# Credentials of tokens that are no longer there are dropped when there are so many more than tokens.
_SPARE = 1000


class Credentials:
    """What SCRAM servers of this node ask. Only what is committed counts.

    Users in the file `kraft.scram.credentials.path` stand before those of the log: controllers that authenticate to
    each other need credentials before they have the log.
    """

    def __init__(
        self,
        config: NodeConfig,
        state: Callable[[], State | None],
        now: Callable[[], float],
        note: Callable[[str, dict[str, Any]], None],
    ) -> None:
        """state: None while the node is not complete; now: a clock, in s; note: takes events for the log. Raises
        FileError.
        """
        path = config.text(FILE_KEY)
        self._file = None if path is None else WatchedFile(path, parse_credentials, now, note)
        self._state = state
        self._secrets = Secrets(config.text("delegation.token.secret.key") or None)
        self._of_tokens: dict[tuple[str, str], Credential] = {}

    def find(self, mechanism: str, name: str, is_token: bool) -> Credential | None:
        """The credential of a user, or of the delegation token with this id; None where there is none."""
        if not is_token and self._file is not None:
            credential = self._file.value().get((name, mechanism))
            if credential is not None:
                return credential
        state = self._state()
        if state is None:
            return None
        if is_token:
            return self._of_token(state, mechanism, name)
        number = next(number for number, known in MECHANISMS.items() if known == mechanism)
        user = state.scram.stable((name, number))
        return None if user is None else Credential(user.salt, user.stored_key, user.server_key, user.iterations)

    def _of_token(self, state: State, mechanism: str, token_id: str) -> Credential | None:
        """The password is the HMAC of the token in base64. It takes milliseconds to compute, so it is kept."""
        token = state.tokens.stable(token_id)
        if token is None or self._secrets.key is None:
            return None
        key = (token_id, mechanism)
        if key not in self._of_tokens:
            if len(self._of_tokens) > len(MECHANISMS) * len(state.tokens) + _SPARE:
                self._of_tokens.clear()
            password = encode_base64(self._secrets.hmac(token_id))
            salt = secrets.token_bytes(_SALT_BYTES)
            self._of_tokens[key] = credential_of_password(mechanism, password, salt, ITERATIONS_MIN)
        owner = token.owner.partition(":")[2]
        return self._of_tokens[key]._replace(owner=owner, expires_ms=token.expiration_timestamp)


def parse_credentials(data: bytes) -> ByUser:
    """Credentials by user and mechanism, of lines as `kafka-storage format --add-scram` takes them, such as
    `SCRAM-SHA-512=[name=alice,password=hush]`; empty lines and those that begin with `#` are passed over.

    Raises ValueError, with the number of the line, and nothing of what is in it.
    """
    from raft.security.scram_arguments import ScramArgumentError, scram_record

    credentials = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            record = scram_record(line, lambda bits: int.from_bytes(os.urandom(32)) >> (256 - bits))
        except ScramArgumentError:
            raise ValueError(
                f"line {number} is no credential as kafka-storage format --add-scram takes it; write "
                "SCRAM-SHA-512=[name=NAME,password=PASSWORD], or salt= and saltedpassword= in base64 in place of "
                "the password"
            ) from None
        credential = Credential(record.salt, record.stored_key, record.server_key, record.iterations)
        credentials[record.name, MECHANISMS[record.mechanism]] = credential
    return credentials
