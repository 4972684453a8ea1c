"""SCRAM credentials (KIP-554)."""

from records.schema import message, struct
from records.wire import array, blob, int8, int16, int32, nullable, string


@message(api_key=50, kind="request", versions=(0, 0), flexible=0)
class DescribeUserScramCredentialsRequest:
    """Asks which SCRAM credentials users have (KIP-554).

    users: null or empty for all.
    users.name: the user.
    """

    @struct
    class UserName:
        name: string

    users: nullable[array[UserName]]


@message(api_key=50, kind="response", versions=(0, 0), flexible=0)
class DescribeUserScramCredentialsResponse:
    """Mechanism and iterations of credentials, never the secret (KIP-554).

    credential_infos: one for each mechanism.
    """

    @struct
    class DescribeUserScramCredentialsResult:
        @struct
        class CredentialInfo:
            mechanism: int8
            iterations: int32

        user: string
        error_code: int16
        error_message: nullable[string]
        credential_infos: array[CredentialInfo]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
    results: array[DescribeUserScramCredentialsResult]


@message(api_key=51, kind="request", versions=(0, 0), flexible=0)
class AlterUserScramCredentialsRequest:
    """Sets and removes SCRAM credentials (KIP-554).

    deletions: credentials to remove.
    upsertions: credentials to set.
    name: the user.
    salt: random bytes that the client chose.
    salted_password: SaltedPassword of RFC 5802; the password itself is never sent.
    """

    @struct
    class ScramCredentialDeletion:
        name: string
        mechanism: int8

    @struct
    class ScramCredentialUpsertion:
        name: string
        mechanism: int8
        iterations: int32
        salt: blob
        salted_password: blob

    deletions: array[ScramCredentialDeletion]
    upsertions: array[ScramCredentialUpsertion]


@message(api_key=51, kind="response", versions=(0, 0), flexible=0)
class AlterUserScramCredentialsResponse:
    """Says for each user whether the credentials were changed."""

    @struct
    class AlterUserScramCredentialsResult:
        user: string
        error_code: int16
        error_message: nullable[string]

    throttle_time_ms: int32
    results: array[AlterUserScramCredentialsResult]
