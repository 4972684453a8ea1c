"""Calls that alter configs and SCRAM credentials (KIP-339, KIP-412, KIP-554)."""

from __future__ import annotations

from typing import NamedTuple

from records.errors import Error
from records.messages.configs import IncrementalAlterConfigsRequest
from records.messages.scram import AlterUserScramCredentialsRequest
from records.resource_types import ConfigOperation, ResourceType
from tools.client.admin import ANY_OR_ACTIVE, CONTROLLER, Call
from tools.client.exceptions import KafkaError, execution_exception
from tools.kafka.configs.config_calls import ConfigResource, of_brokers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from tools.client.admin import Admin

ALTER_SECONDS = 30.0


class Credential(NamedTuple):
    """A SCRAM credential to set. mechanism: a key of `scram_arguments.MECHANISMS`."""

    mechanism: str
    iterations: int
    password: str


def alter_configs(admin: Admin, resource: ConfigResource, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Set and delete configs of a resource. Raises Uncaught, wrapped as by a Java future."""
    kind = IncrementalAlterConfigsRequest.AlterConfigsResource
    configs = [kind.AlterableConfig(name=name, config_operation=ConfigOperation.DELETE, value="") for name in deleted]
    configs += [
        kind.AlterableConfig(name=name, config_operation=ConfigOperation.SET, value=value)
        for name, value in added.items()
    ]
    altered = kind(resource_type=resource.type, resource_name=resource.name, configs=tuple(configs))
    request = IncrementalAlterConfigsRequest(resources=(altered,), validate_only=False)

    def outcome(response: Any) -> None:
        for result in response.responses:
            if result.error_code:
                is_moved = result.error_code == Error.NOT_CONTROLLER or (
                    admin.settings.at_controllers and result.error_code == Error.NOT_LEADER_OR_FOLLOWER
                )
                raise KafkaError(result.error_code, result.error_message, is_final=not is_moved)

    # The active controller keeps the configs of all brokers; levels of a logger are known to its node alone.
    node = None if admin.settings.at_controllers and resource.type is not ResourceType.BROKER_LOGGER else resource.node
    where = ANY_OR_ACTIVE if node is None else node
    admin.result(
        Call("incrementalAlterConfigs", lambda _: request, outcome, where),
        min(ALTER_SECONDS, admin.settings.api_timeout),
    )


def alter_credentials(
    admin: Admin, user: str, upserted: Sequence[Credential], deleted: Sequence[str], draw: Callable[[int], int]
) -> None:
    """deleted: mechanisms. draw: returns this many random bits. Raises Uncaught, wrapped as by a Java future."""
    from raft.security.scram_arguments import MECHANISMS

    of_brokers(admin)
    # As by stock's client: a user with an empty password is left out of the request, and refused after it.
    is_refused = any(not credential.password for credential in upserted)
    kind = AlterUserScramCredentialsRequest
    request = kind(
        deletions=tuple(
            kind.ScramCredentialDeletion(name=user, mechanism=MECHANISMS[mechanism][0])
            for mechanism in (() if is_refused else deleted)
        ),
        upsertions=tuple(_upsertion(user, credential, draw) for credential in (() if is_refused else upserted)),
    )

    def outcome(response: Any) -> None:
        for result in response.results:
            if result.error_code:
                is_moved = result.error_code == Error.NOT_CONTROLLER
                raise KafkaError(result.error_code, result.error_message, is_final=not is_moved)

    admin.result(Call("alterUserScramCredentials", lambda _: request, outcome, CONTROLLER))
    if is_refused:
        raise execution_exception(KafkaError(Error.UNACCEPTABLE_CREDENTIAL, "Password must not be empty"))


def _upsertion(user: str, credential: Credential, draw: Callable[[int], int]) -> Any:
    from hashlib import pbkdf2_hmac

    from raft.security.scram_arguments import MECHANISMS, new_salt

    number, hash_name, _ = MECHANISMS[credential.mechanism]
    salt = new_salt(draw)
    salted = pbkdf2_hmac(hash_name, credential.password.encode(), salt, credential.iterations)
    return AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
        name=user, mechanism=number, iterations=credential.iterations, salt=salt, salted_password=salted
    )
