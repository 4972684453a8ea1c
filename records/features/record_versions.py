"""The version of each record by metadata.version, and the levels that rules of partitions depend on.

Levels are those of `records.features.levels`, as plain ints: a rule compares them, nothing else.
"""

from __future__ import annotations

NOOP_RECORDS = 5  # 3.3-IV1
CONTROLLED_SHUTDOWN = 7  # 3.3-IV3
MIGRATION = 8  # 3.4-IV0
SCRAM = 11  # 3.5-IV2
NO_EPOCH_BUMP_ON_ISR_SHRINK = 12  # 3.6-IV0
TRANSACTIONS = 13  # 3.6-IV1
DELEGATION_TOKENS = 14  # 3.6-IV2
CONTROLLER_REGISTRATION = 15  # 3.7-IV0
DIRECTORY_ASSIGNMENT = 17  # 3.7-IV2
ELR_RECORDS = 23  # 4.0-IV1
CORDONED_DIRECTORIES = 30  # 4.3-IV0
CIDR_ACLS = 32  # 4.4-IV1
CONTROLLER_UNREGISTRATION = 33  # 4.4-IV2


def register_broker_version(metadata_version: int) -> int:
    """RegisterBrokerRecord: log dirs from 3, cordoned ones from 4."""
    if metadata_version >= CORDONED_DIRECTORIES:
        return 4
    if metadata_version >= DIRECTORY_ASSIGNMENT:
        return 3
    if metadata_version >= 8:  # 3.4-IV0
        return 2
    return 1 if metadata_version >= CONTROLLED_SHUTDOWN else 0


def partition_version(metadata_version: int) -> int:
    """PartitionRecord and PartitionChangeRecord: directories from 1, ELR from 2."""
    if metadata_version >= ELR_RECORDS:
        return 2
    return 1 if metadata_version >= DIRECTORY_ASSIGNMENT else 0
