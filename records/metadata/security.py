"""Records of ACLs, SCRAM credentials and delegation tokens."""

from records.schema import message
from records.wire import array, blob, int8, int32, int64, string, uuid


@message(api_key=10, kind="metadata", versions=(0, 0), flexible=0)
class DelegationTokenRecord:
    """Record 10."""

    owner: string
    requester: string
    renewers: array[string]
    issue_timestamp: int64
    max_timestamp: int64
    expiration_timestamp: int64
    token_id: string


@message(api_key=11, kind="metadata", versions=(0, 0), flexible=0)
class UserScramCredentialRecord:
    """Record 11."""

    name: string
    mechanism: int8
    salt: blob
    stored_key: blob
    server_key: blob
    iterations: int32


@message(api_key=18, kind="metadata", versions=(0, 0), flexible=0)
class AccessControlEntryRecord:
    """Record 18."""

    id: uuid
    resource_type: int8
    resource_name: string
    pattern_type: int8
    principal: string
    host: string
    operation: int8
    permission_type: int8


@message(api_key=19, kind="metadata", versions=(0, 0), flexible=0)
class RemoveAccessControlEntryRecord:
    """Record 19."""

    id: uuid


@message(api_key=22, kind="metadata", versions=(0, 0), flexible=0)
class RemoveUserScramCredentialRecord:
    """Record 22."""

    name: string
    mechanism: int8


@message(api_key=26, kind="metadata", versions=(0, 0), flexible=0)
class RemoveDelegationTokenRecord:
    """Record 26."""

    token_id: string
