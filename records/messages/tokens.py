"""Delegation tokens (KIP-48)."""

from records.schema import message, since, struct
from records.wire import array, blob, int16, int32, int64, nullable, string


@message(api_key=38, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class CreateDelegationTokenRequest:
    """Asks: CreateDelegationToken."""

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
    """Answers: CreateDelegationToken."""

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
    """Asks: RenewDelegationToken."""

    hmac: blob
    renew_period_ms: int64


@message(api_key=39, kind="response", versions=(0, 2), served=(1, 2), flexible=2)
class RenewDelegationTokenResponse:
    """Answers: RenewDelegationToken."""

    error_code: int16
    expiry_timestamp_ms: int64
    throttle_time_ms: int32


@message(api_key=40, kind="request", versions=(0, 2), served=(1, 2), flexible=2)
class ExpireDelegationTokenRequest:
    """Asks: ExpireDelegationToken."""

    hmac: blob
    expiry_time_period_ms: int64


@message(api_key=40, kind="response", versions=(0, 2), served=(1, 2), flexible=2)
class ExpireDelegationTokenResponse:
    """Answers: ExpireDelegationToken."""

    error_code: int16
    expiry_timestamp_ms: int64
    throttle_time_ms: int32


@message(api_key=41, kind="request", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeDelegationTokenRequest:
    """Asks: DescribeDelegationToken."""

    @struct
    class DescribeDelegationTokenOwner:
        principal_type: string
        principal_name: string

    owners: nullable[array[DescribeDelegationTokenOwner]]


@message(api_key=41, kind="response", versions=(0, 3), served=(1, 3), flexible=2)
class DescribeDelegationTokenResponse:
    """Answers: DescribeDelegationToken."""

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
