"""The first records of a new active controller: bootstrap of an empty log, the end of a transaction left open (KIP-631,
KIP-778, KIP-868).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.rules.partition_elections import MIN_ISR
from controller.state.tables.configs import BROKER
from records.features.levels import ELR_VERSION, METADATA_VERSION
from records.features.record_versions import TRANSACTIONS
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.env import Env
    from controller.state.state import State

    Records = list[tuple[Any, int]]

FAILOVER = "Controller failover"
BOOTSTRAP = "Bootstrap records"


class ActivationError(Exception):
    """The log cannot be led from: what is in it does not go with the metadata.version."""


def activation_records(state: State, env: Env, bootstrap: Sequence[tuple[Any, int]]) -> Records:
    """What a controller writes when it becomes active; often nothing.

    bootstrap: the records of `bootstrap.checkpoint`, metadata.version first. A log without a metadata.version counts
    as empty. Raises ActivationError where a transaction is open that cannot be.
    """
    is_open = state.transaction_start >= 0
    levels = levels_of(bootstrap)
    is_empty = state.metadata_version == 0
    metadata_version = levels.get(METADATA_VERSION, 0) if is_empty else state.metadata_version
    if metadata_version == 0:
        raise ActivationError("neither the log nor the bootstrap records have a metadata.version")
    has_transactions = metadata_version >= TRANSACTIONS
    if is_open and not has_transactions:
        raise ActivationError(
            f"a transaction is open since offset {state.transaction_start}, but metadata.version {metadata_version} "
            "has no transactions"
        )
    records: Records = [(AbortTransactionRecord(reason=FAILOVER), 0)] if is_open else []
    if not is_empty:
        return records
    if has_transactions:
        records.append((BeginTransactionRecord(name=BOOTSTRAP), 0))
    records += bootstrap
    if levels.get(ELR_VERSION, 0) > 0:
        # min.insync.replicas decides about the ELR, so it must not depend on which controller is active.
        value = str(env.settings.min_insync_replicas)
        record = ConfigRecord(resource_type=BROKER, resource_name="", name=MIN_ISR, value=value)
        records.append((record, 0))
    if has_transactions:
        records.append((EndTransactionRecord(), 0))
    return records


def levels_of(bootstrap: Sequence[tuple[Any, int]]) -> dict[str, int]:
    """The feature levels among the bootstrap records."""
    return {record.name: record.feature_level for record, _ in bootstrap if isinstance(record, FeatureLevelRecord)}
