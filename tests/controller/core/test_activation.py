"""The first records of an active controller: ActivationRecordsGeneratorTest's cases, and QuorumControllerTest's."""

from random import Random

import pytest

from controller.core.activation import ActivationError, activation_records
from controller.interface.env import Env
from controller.interface.settings import Settings
from controller.state.state import State
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from tests.controller.rig import levels

BEGIN = (BeginTransactionRecord(name="Bootstrap records"), 0)
END = (EndTransactionRecord(), 0)
ABORT = (AbortTransactionRecord(reason="Controller failover"), 0)


def records(state, bootstrap):
    env = Env("c", 1, Random(1), Settings(min_insync_replicas=2))
    return activation_records(state, env, bootstrap)


def state(*replayed):
    found = State()
    for offset, record in enumerate(replayed):
        found.replay(record, offset)
    return found


def level(metadata_version):
    return FeatureLevelRecord(name="metadata.version", feature_level=metadata_version)


@pytest.mark.parametrize("metadata_version", [7, 12])
def test_without_transactions_an_empty_log_gets_only_the_bootstrap_records(metadata_version):
    assert records(state(), levels(metadata_version)) == levels(metadata_version)


@pytest.mark.parametrize("metadata_version", [13, 30])
def test_an_empty_log_gets_the_bootstrap_records_in_a_transaction(metadata_version):
    assert records(state(), levels(metadata_version)) == [BEGIN, *levels(metadata_version), END]


def test_with_elr_the_min_isr_of_this_node_becomes_that_of_the_cluster():
    config = ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="2")

    assert records(state(), levels(elr=True)) == [BEGIN, *levels(elr=True), (config, 0), END]


def test_with_elr_at_level_0_the_cluster_has_no_min_isr():
    disabled = [*levels(), (FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=0), 0)]

    assert records(state(), disabled) == [BEGIN, *disabled, END]


def test_an_interrupted_bootstrap_is_aborted_and_repeated():
    broken = state(BeginTransactionRecord(name="Bootstrap records"))

    assert records(broken, levels()) == [ABORT, BEGIN, *levels(), END]


def test_a_bootstrap_interrupted_after_the_metadata_version_is_aborted():
    broken = state(BeginTransactionRecord(name="Bootstrap records"), level(30))

    assert records(broken, levels()) == [ABORT]


def test_a_non_empty_log_gets_no_activation_records():
    assert records(state(level(30)), levels(7)) == []


def test_an_open_transaction_is_aborted_on_activation():
    assert records(state(level(13), BeginTransactionRecord()), levels()) == [ABORT]


@pytest.mark.parametrize(
    ("replayed", "bootstrap"),
    [
        ((level(12), BeginTransactionRecord()), levels()),
        ((BeginTransactionRecord(),), levels(12)),
        ((), []),
    ],
)
def test_a_log_that_contradicts_its_metadata_version_is_an_activation_error(replayed, bootstrap):
    with pytest.raises(ActivationError):
        records(state(*replayed), bootstrap)
