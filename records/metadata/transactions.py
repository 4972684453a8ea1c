"""Metadata transactions and records without content (KIP-835, KIP-868)."""

from records.schema import message, tagged_field
from records.wire import int8, nullable, string


@message(api_key=20, kind="metadata", versions=(0, 0), flexible=0)
class NoOpRecord:
    """Nothing changed; it moves the end of the log, so that the progress of followers can be seen (KIP-835)."""


@message(api_key=21, kind="metadata", versions=(0, 0), flexible=0)
class ZkMigrationStateRecord:
    """How far a migration from ZooKeeper has come (KIP-866).

    zk_migration_state: 0 none, 1 pre-migration, 2 migration, 3 post-migration.
    """

    zk_migration_state: int8


@message(api_key=23, kind="metadata", versions=(0, 0), flexible=0)
class BeginTransactionRecord:
    """What follows counts only once its EndTransactionRecord is there (KIP-868).

    name: what the transaction is for, for people.
    """

    name: nullable[string] = tagged_field(0, default=None)


@message(api_key=24, kind="metadata", versions=(0, 0), flexible=0)
class EndTransactionRecord:
    """The records since BeginTransactionRecord count (KIP-868)."""


@message(api_key=25, kind="metadata", versions=(0, 0), flexible=0)
class AbortTransactionRecord:
    """The records since BeginTransactionRecord count for nothing (KIP-868).

    reason: for people.
    """

    reason: nullable[string] = tagged_field(0, default=None)
