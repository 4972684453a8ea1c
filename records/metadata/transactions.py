"""Metadata transactions and records without content (KIP-835, KIP-868)."""

from records.schema import message, tagged
from records.wire import int8, nullable, string


@message(api_key=20, kind="metadata", versions=(0, 0), flexible=0)
class NoOpRecord:
    """Record 20."""


@message(api_key=21, kind="metadata", versions=(0, 0), flexible=0)
class ZkMigrationStateRecord:
    """Record 21."""

    zk_migration_state: int8


@message(api_key=23, kind="metadata", versions=(0, 0), flexible=0)
class BeginTransactionRecord:
    """Record 23."""

    name: nullable[string] = tagged(0, default=None)


@message(api_key=24, kind="metadata", versions=(0, 0), flexible=0)
class EndTransactionRecord:
    """Record 24."""


@message(api_key=25, kind="metadata", versions=(0, 0), flexible=0)
class AbortTransactionRecord:
    """Record 25."""

    reason: nullable[string] = tagged(0, default=None)
