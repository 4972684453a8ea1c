"""Supported APIs and features: ApiVersions (KIP-35, KIP-511, KIP-584, KIP-1242)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.interface.results import Result, at_once
from records.errors import Error
from records.features.levels import KRAFT_VERSION, METADATA_VERSION, MINIMUM, supported_features
from records.messages.versions import ApiVersionsResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.versions import ApiVersionsRequest

# The first version with the client's software name, the first whose clients accept features with level 0, and the first
# with the cluster and the node that the client means.
NAMED_VERSION = 3
LEVEL_ZERO_VERSION = 4
MEANT_NODE_VERSION = 5

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def api_versions(
    state: State, context: RequestContext, request: ApiVersionsRequest, env: Env, served: Mapping[int, tuple[int, int]]
) -> Result:
    """ApiVersions: the served APIs with their versions, the supported feature levels and the finalized ones.

    served: API key -> least and greatest version. Every client asks this first, voters of the quorum too. So the
    response must not wait for a commit: it could wait forever.
    """
    if not _is_valid(context, request):
        return at_once(ApiVersionsResponse(error_code=Error.INVALID_REQUEST, api_keys=()))
    levels = _finalized_features(state, env)
    response = ApiVersionsResponse(
        error_code=Error.NONE,
        api_keys=tuple(_api_version(key, *versions) for key, versions in sorted(served.items())),
        throttle_time_ms=0,
        supported_features=_supported_features(context, env),
        finalized_features_epoch=-1 if levels is None else state.stable_end_offset - 1,
        finalized_features=levels or (),
    )
    return at_once(response)


def _is_valid(context: RequestContext, request: ApiVersionsRequest) -> bool:
    """The cluster and the node that a client means are both given or neither. Only a broker compares them with its own
    (KIP-1242): the address of a controller comes from a configuration, not from metadata of another cluster.
    """
    if context.version >= MEANT_NODE_VERSION and (request.cluster_id is None) != (request.node_id == -1):
        return False
    texts = (request.client_software_name, request.client_software_version)
    return context.version < NAMED_VERSION or all(_SOFTWARE.fullmatch(text) is not None for text in texts)


def _api_version(key: int, least: int, greatest: int) -> ApiVersionsResponse.ApiVersion:
    return ApiVersionsResponse.ApiVersion(api_key=key, min_version=least, max_version=greatest)


def _supported_features(context: RequestContext, env: Env) -> tuple[ApiVersionsResponse.SupportedFeatureKey, ...]:
    # Stock has this rest on the property for versions of APIs, not on that for levels of features.
    unstable = env.config is not None and env.config.flag("unstable.api.versions.enable")
    return tuple(
        ApiVersionsResponse.SupportedFeatureKey(name=name, min_version=least, max_version=greatest)
        for name, (least, greatest) in sorted(supported_features(unstable, env.release).items())
        # Older clients cannot read a minimum level of 0 (KAFKA-17492).
        if least > 0 or context.version >= LEVEL_ZERO_VERSION
    )


def _finalized_features(state: State, env: Env) -> tuple[ApiVersionsResponse.FinalizedFeatureKey, ...] | None:
    """None before the first levels are known (KAFKA-19964)."""
    stable = stable_levels(state)
    if env.release.hides_levels and METADATA_VERSION not in stable:
        return None
    levels = {METADATA_VERSION: MINIMUM} | stable | {KRAFT_VERSION: env.kraft_version}
    return tuple(
        ApiVersionsResponse.FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
        for name, level in sorted(levels.items())
        if level != 0
    )


def stable_levels(state: State) -> dict[str, int]:
    """Name -> level of each feature, as of the last stable record."""
    levels = dict(state.features)
    if state.features.last_change() >= 0:
        for entry in state.undo.since(state.stable_end_offset):
            if entry.part is not state.features.log:
                continue
            levels.pop(entry.key, None)
            if entry.old is not None:
                levels[entry.key] = entry.old
    return levels
