"""AlterUserScramCredentials (KIP-554, KIP-900)."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any

from controller.interface.results import Result, at_once, raised_text
from controller.state.tables.scram import MECHANISMS, SCRAM_SHA_256, SCRAM_SHA_512
from records.errors import ApiError, Error
from records.java.java_order import hash_order
from records.messages.scram import AlterUserScramCredentialsResponse
from records.metadata.security import RemoveUserScramCredentialRecord, UserScramCredentialRecord

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.scram import AlterUserScramCredentialsRequest

UserResult = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult

# metadata.version 3.5-IV2.
SCRAM_LEVEL = 11
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 16384
_HASHES = {SCRAM_SHA_256: "sha256", SCRAM_SHA_512: "sha512"}
_TWICE = "A user credential cannot be altered twice in the same request"


def idle(
    _state: State, _context: RequestContext, request: AlterUserScramCredentialsRequest, _env: Env
) -> AlterUserScramCredentialsResponse | None:
    """The answer to a request that names no user; None for others."""
    if request.deletions or request.upsertions:
        return None
    return AlterUserScramCredentialsResponse(throttle_time_ms=0, results=())


def alter_user_scram_credentials(
    state: State, context: RequestContext, request: AlterUserScramCredentialsRequest, env: Env
) -> Result:
    """AlterUserScramCredentials: each user's credential is set, removed or refused on its own; one batch.

    Records and results stand in the order of Kafka's maps of users: deletions, upsertions, errors.
    """
    empty = idle(state, context, request, env)
    if empty is not None:
        return at_once(empty)
    errors: dict[str, ApiError] = {}
    deletions = _select_entries(state, env, request.deletions, {}, errors, _check_deletion)
    upsertions = _select_entries(state, env, request.upsertions, deletions, errors, _check_upsertion)
    records: list[tuple[Any, int]] = []
    results = []
    pause = env.slices.pause
    for name in hash_order(deletions, pause=pause):
        pause()
        records.append((RemoveUserScramCredentialRecord(name=name, mechanism=deletions[name].mechanism), 0))
        results.append(UserResult(user=name, error_code=Error.NONE, error_message=None))
    for name in hash_order(upsertions, pause=pause):
        pause()
        if not upsertions[name].salted_password:
            # Java has no keys of no bytes.
            errors[name] = ApiError(Error.UNKNOWN_SERVER_ERROR)
            continue
        records.append((credential_record(upsertions[name]), 0))
        results.append(UserResult(user=name, error_code=Error.NONE, error_message=None))
    for name in hash_order(errors, pause=pause):
        pause()
        error = errors[name]
        results.append(UserResult(user=name, error_code=error.code, error_message=raised_text(error)))
    response = AlterUserScramCredentialsResponse(throttle_time_ms=0, results=tuple(results))
    return Result(response, records, max(state.scram.last_change(), state.features.last_change()))


def _select_entries(
    state: State, env: Env, asked: Any, before: dict[str, Any], errors: dict[str, ApiError], check: Any
) -> dict[str, Any]:
    """The entries that can be done, by user. before: those of the request's first part; a user named there again is
    taken out of it. errors: gets what is wrong.
    """
    entries: dict[str, Any] = {}
    for entry in asked:
        env.slices.pause()
        name = entry.name
        if name in errors:
            continue
        if before.pop(name, None) is not None or entries.pop(name, None) is not None:
            errors[name] = ApiError(Error.DUPLICATE_RESOURCE, _TWICE)
            continue
        try:
            if state.metadata_version < SCRAM_LEVEL:
                raise ApiError(Error.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM")
            check(state, entry)
        except ApiError as error:
            errors[name] = error
            continue
        entries[name] = entry
    return entries


def _check_name_and_mechanism(entry: Any) -> None:
    if not entry.name:
        raise ApiError(Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if entry.mechanism not in MECHANISMS:
        raise ApiError(Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")


def _check_deletion(state: State, entry: Any) -> None:
    _check_name_and_mechanism(entry)
    if (entry.name, entry.mechanism) not in state.scram:
        raise ApiError(Error.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")


def _check_upsertion(_state: State, entry: Any) -> None:
    _check_name_and_mechanism(entry)
    if entry.iterations < ITERATIONS_MIN:
        raise ApiError(Error.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if entry.iterations > ITERATIONS_MAX:
        raise ApiError(Error.UNACCEPTABLE_CREDENTIAL, "Too many iterations")


def credential_record(entry: Any) -> UserScramCredentialRecord:
    """The record of a salted password (RFC 5802)."""
    hash_name = _HASHES[entry.mechanism]
    client_key = hmac.digest(entry.salted_password, b"Client Key", hash_name)
    return UserScramCredentialRecord(
        name=entry.name,
        mechanism=entry.mechanism,
        salt=entry.salt,
        stored_key=hashlib.new(hash_name, client_key).digest(),
        server_key=hmac.digest(entry.salted_password, b"Server Key", hash_name),
        iterations=entry.iterations,
    )
