"""Upgrades and downgrades of features: UpdateFeatures (KIP-584, KIP-778, KIP-853, KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.handlers.config_changes import MIN_ISR, config_record
from controller.interface.results import Result
from records.errors import ApiError, Error, error_text
from records.features.levels import (
    DISABLED,
    ELR_VERSION,
    KRAFT_VERSION,
    METADATA_VERSION,
    changes_metadata_between,
    check_needs,
    range_text,
    supported_features,
)
from records.features.record_versions import CONTROLLER_REGISTRATION
from records.java.java_order import hash_order
from records.messages.features import UpdateFeaturesResponse
from records.metadata.configs import FeatureLevelRecord
from records.metadata.transactions import NoOpRecord
from records.resource_types import ResourceType

if TYPE_CHECKING:
    from controller.handlers.config_changes import Records
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.features.levels import Range
    from records.messages.features import UpdateFeaturesRequest

UPGRADE = 1
SAFE_DOWNGRADE = 2
UNSAFE_DOWNGRADE = 3

# Up to this version the response has a result for each feature.
RESULTS_VERSION_MAX = 1


def update_features(state: State, context: RequestContext, request: UpdateFeaturesRequest, env: Env) -> Result:
    """UpdateFeatures: all levels are changed, or none if one of them cannot be."""
    # Of a feature that is named twice, the last level counts.
    updates = {update.feature: (update.max_version_level, update.upgrade_type) for update in request.feature_updates}
    proposed = dict(state.features) | {name: level for name, (level, _) in updates.items()}
    rests_on = max(state.features.last_change(), state.brokers.last_change(), state.controllers.last_change())
    records: Records = []
    try:
        # The first that fails is the first in the order of Kafka's map.
        for name in hash_order(updates):
            records += _update(state, env, name, *updates[name], proposed)
    except ApiError as error:
        text = f"The update failed for all features since the following feature had an error: {error.text}"
        refusal = UpdateFeaturesResponse(throttle_time_ms=0, error_code=error.code, error_message=text)
        return Result(refusal, rests_on=rests_on)
    if updates.get(ELR_VERSION, (0, UPGRADE))[0] > 0:
        records = [*elr_safety_records(state, env), *records]
    response = UpdateFeaturesResponse(
        throttle_time_ms=0, error_code=Error.NONE, error_message=None, results=_results(context, request)
    )
    if request.validate_only:
        return Result(response, rests_on=rests_on)
    level = updates.get(KRAFT_VERSION, (0, UPGRADE))[0]
    return Result(response, records, rests_on, kraft_version=level if level > env.kraft_version else None)


def elr_safety_records(state: State, env: Env) -> Records:
    """The records that give min.insync.replicas one value on all nodes, which ELRs require."""
    records: Records = []
    if MIN_ISR not in state.configs.get((ResourceType.BROKER, ""), {}):
        records.append(config_record(ResourceType.BROKER, "", MIN_ISR, str(env.settings.min_insync_replicas)))
    named = [
        name
        for (kind, name), values in state.configs.items()
        if kind == ResourceType.BROKER and name and MIN_ISR in values
    ]
    removed = [config_record(ResourceType.BROKER, name, MIN_ISR, None) for name in sorted(named, key=_numerically)]
    return [*records, *removed]


def _numerically(name: str) -> tuple[int, str]:
    return len(name), name


def _update(state: State, env: Env, name: str, level: int, upgrade_type: int, proposed: dict[str, int]) -> Records:
    """The records that set one feature to a level. Raises ApiError(INVALID_UPDATE_VERSION)."""
    if upgrade_type not in {UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE}:
        raise _invalid(name, level, "The controller does not support the given upgrade type.")
    current = env.kraft_version if name == KRAFT_VERSION else state.features.get(name, 0)
    if level < 0:
        raise _invalid(name, level, "A feature version cannot be less than 0.")
    reason = _unsupported_reason(state, env, name, level)
    if reason is not None:
        raise _invalid(name, level, reason)
    if level < current and upgrade_type == UPGRADE:
        raise _invalid(
            name,
            level,
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        )
    if level > current and upgrade_type != UPGRADE:
        raise _invalid(name, level, "Can't downgrade to a newer version.")
    if name == METADATA_VERSION:
        _check_metadata_version(current, level, is_unsafe=upgrade_type == UNSAFE_DOWNGRADE)
    elif name == KRAFT_VERSION:
        return _update_kraft_version(env, level, upgrade_type)
    else:
        try:
            check_needs(name, level, proposed, env.release)
        except ValueError as error:
            raise _invalid(name, level, str(error)) from error
    return [(FeatureLevelRecord(name=name, feature_level=level), 0)]


def _update_kraft_version(env: Env, level: int, upgrade_type: int) -> Records:
    """kraft.version is in control records of the quorum; here is only a record for the response to wait for.

    Raises ApiError(INVALID_UPDATE_VERSION) where a voter does not support the level, or has not reported levels yet.
    """
    current = env.kraft_version
    if upgrade_type != UPGRADE:
        if level != current:
            raise _invalid(KRAFT_VERSION, level, "Can't downgrade the version of this feature.")
        return []
    epoch, supported = env.kraft_version_support
    if level > current and (epoch != env.epoch or supported < level):
        text = f"Invalid upgrade of kraft.version to KRAFT_VERSION_{level} because not all of the voters support it"
        raise ApiError(Error.INVALID_UPDATE_VERSION, text)
    return [(NoOpRecord(), 0)]


def _check_metadata_version(current: int, level: int, *, is_unsafe: bool) -> None:
    """Refuse a downgrade that would lose what records of newer levels contain. Raises ApiError.

    level: one that this node supports, and so knows.
    """
    if level < current and changes_metadata_between(current, level):
        reason = "Refusing to perform the requested downgrade because it might delete metadata information."
        if is_unsafe:
            reason = "Unsafe metadata downgrade is not supported in this version."
        text = f"Unsupported metadata.version downgrade from {current} to {level}. {reason}"
        raise ApiError(Error.INVALID_UPDATE_VERSION, text)


def _unsupported_reason(state: State, env: Env, name: str, level: int) -> str | None:
    """Which node does not support the level, or may not; None if all do."""
    supported = state.supported_features
    if supported is None:
        unstable = env.config is not None and env.config.flag("unstable.feature.versions.enable")
        supported = supported_features(unstable, env.release)
    reason = _outside(f"Local controller {env.node_id}", supported.get(name, DISABLED), level)
    if reason is not None:
        return reason
    for broker_id in sorted(state.brokers):
        reason = _outside(f"Broker {broker_id}", state.brokers[broker_id].features.get(name, DISABLED), level)
        if reason is not None:
            return reason
    if state.metadata_version < CONTROLLER_REGISTRATION:
        return None
    for controller_id in sorted(state.controllers):
        if controller_id == env.node_id:
            continue
        features = state.controllers[controller_id].features
        reason = _outside(f"Controller {controller_id}", features.get(name, DISABLED), level)
        if reason is not None:
            return reason
    for voter_id in sorted(() if env.config is None else env.config.voters):
        if voter_id != env.node_id and voter_id not in state.controllers:
            return f"controller {voter_id} has not registered, and may not support this feature"
    return None


def _outside(what: str, levels: Range, level: int) -> str | None:
    low, high = levels
    if low <= level <= high:
        return None
    if high == 0:
        return f"{what} does not support this feature."
    return f"{what} only supports versions {range_text((low, high))}"


def _invalid(name: str, level: int, reason: str) -> ApiError:
    return ApiError(Error.INVALID_UPDATE_VERSION, f"Invalid update version {level} for feature {name}. {reason}")


def _results(
    context: RequestContext, request: UpdateFeaturesRequest
) -> tuple[UpdateFeaturesResponse.UpdatableFeatureResult, ...]:
    if context.version > RESULTS_VERSION_MAX:
        return ()
    item = UpdateFeaturesResponse.UpdatableFeatureResult
    return tuple(
        item(feature=update.feature, error_code=Error.NONE, error_message=error_text(Error.NONE))
        for update in request.feature_updates
    )
