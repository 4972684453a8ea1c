"""Records of ACLs, SCRAM credentials and delegation tokens."""

from records.schema import message
from records.wire import array, blob, int8, int32, int64, string, uuid


@message(api_key=10, kind="metadata", versions=(0, 0), flexible=0)
class DelegationTokenRecord:
    """A delegation token was made or renewed (KIP-900).

    owner: type:name.
    requester: type:name of the principal that requested it.
    renewers: type:name of each principal that may renew it.
    issue_timestamp: when it was made, in ms since 1970.
    max_timestamp: beyond this it cannot be renewed, in ms since 1970.
    expiration_timestamp: when it expires, in ms since 1970.
    """

    owner: string
    requester: string
    renewers: array[string]
    issue_timestamp: int64
    max_timestamp: int64
    expiration_timestamp: int64
    token_id: string


@message(api_key=11, kind="metadata", versions=(0, 0), flexible=0)
class UserScramCredentialRecord:
    """A user's SCRAM credential was set (KIP-900).

    name: the user.
    stored_key: StoredKey of RFC 5802.
    server_key: ServerKey of RFC 5802.
    salt: random bytes that the client drew.
    """

    name: string
    mechanism: int8
    salt: blob
    stored_key: blob
    server_key: blob
    iterations: int32


@message(api_key=18, kind="metadata", versions=(0, 0), flexible=0)
class AccessControlEntryRecord:
    """An ACL was made (KIP-801).

    id: by which it is removed.
    """

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
    """An ACL was removed (KIP-801).

    id: of the ACL.
    """

    id: uuid


@message(api_key=22, kind="metadata", versions=(0, 0), flexible=0)
class RemoveUserScramCredentialRecord:
    """A user's SCRAM credential was removed (KIP-900).

    name: the user.
    """

    name: string
    mechanism: int8


@message(api_key=26, kind="metadata", versions=(0, 0), flexible=0)
class RemoveDelegationTokenRecord:
    """A delegation token is gone (KIP-900)."""

    token_id: string
