"""Delegation tokens (KIP-48)."""

from records.schema import message, since, struct
from records.wire import array, blob, int16, int32, int64, nullable, string


@message(api_key=38, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class CreateDelegationTokenRequest:
    """Creates a delegation token (KIP-48, KIP-373).

    owner_principal_type: null for the caller itself.
    owner_principal_name: null for the caller itself.
    renewers: principals other than the owner that may renew it.
    max_lifetime_ms: -1 for the greatest that is allowed.
    """

    @struct
    class CreatableRenewers:
        principal_type: string
        principal_name: string

    owner_principal_type: nullable[string] = since(3, default="")
    owner_principal_name: nullable[string] = since(3, default="")
    renewers: array[CreatableRenewers]
    max_lifetime_ms: int64


@message(api_key=38, kind="response", versions=(0, 3), served=(1, 3), flexible=2)
class CreateDelegationTokenResponse:
    """Returns the token (KIP-48, KIP-373).

    principal_type: of the owner.
    principal_name: of the owner.
    token_requester_principal_type: of the requester.
    token_requester_principal_name: of the requester.
    issue_timestamp_ms: when it was created.
    max_timestamp_ms: it cannot be renewed beyond this time.
    """

    error_code: int16
    principal_type: string
    principal_name: string
    token_requester_principal_type: string = since(3, default="")
    token_requester_principal_name: string = since(3, default="")
    issue_timestamp_ms: int64
    expiry_timestamp_ms: int64
    max_timestamp_ms: int64
    token_id: string
    hmac: blob
    throttle_time_ms: int32


@message(api_key=39, kind="request", versions=(0, 2), served=(1, 2), flexible=2)
class RenewDelegationTokenRequest:
    """Renews a delegation token (KIP-48).

    renew_period_ms: for how long; -1 for the default.
    """

    hmac: blob
    renew_period_ms: int64


@message(api_key=39, kind="response", versions=(0, 2), served=(1, 2), flexible=2)
class RenewDelegationTokenResponse:
    """Says when the token expires now."""

    error_code: int16
    expiry_timestamp_ms: int64
    throttle_time_ms: int32


@message(api_key=40, kind="request", versions=(0, 2), served=(1, 2), flexible=2)
class ExpireDelegationTokenRequest:
    """Sets when a delegation token expires (KIP-48).

    expiry_time_period_ms: in how long; negative for at once.
    """

    hmac: blob
    expiry_time_period_ms: int64


@message(api_key=40, kind="response", versions=(0, 2), served=(1, 2), flexible=2)
class ExpireDelegationTokenResponse:
    """Says when the token expires now."""

    error_code: int16
    expiry_timestamp_ms: int64
    throttle_time_ms: int32


@message(api_key=41, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeDelegationTokenRequest:
    """Asks for delegation tokens (KIP-48).

    owners: the owners of the tokens; null for all that the caller may see.
    """

    @struct
    class DescribeDelegationTokenOwner:
        principal_type: string
        principal_name: string

    owners: nullable[array[DescribeDelegationTokenOwner]]


@message(api_key=41, kind="response", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeDelegationTokenResponse:
    """Lists delegation tokens (KIP-48, KIP-373).

    tokens: those that the caller may see.
    principal_type: of the owner; of the renewer.
    principal_name: of the owner; of the renewer.
    token_requester_principal_type: of the requester.
    token_requester_principal_name: of the requester.
    issue_timestamp: when it was created, in ms since 1970.
    expiry_timestamp: when it expires, in ms since 1970.
    max_timestamp: it cannot be renewed beyond this time, in ms since 1970.
    renewers: principals other than the owner that may renew it.
    """

    @struct
    class DescribedDelegationToken:
        @struct
        class DescribedDelegationTokenRenewer:
            principal_type: string
            principal_name: string

        principal_type: string
        principal_name: string
        token_requester_principal_type: string = since(3, default="")
        token_requester_principal_name: string = since(3, default="")
        issue_timestamp: int64
        expiry_timestamp: int64
        max_timestamp: int64
        token_id: string
        hmac: blob
        renewers: array[DescribedDelegationTokenRenewer]

    error_code: int16
    tokens: array[DescribedDelegationToken]
    throttle_time_ms: int32
