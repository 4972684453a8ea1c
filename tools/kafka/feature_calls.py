"""Calls about features: ApiVersions, which has the levels, and UpdateFeatures (KIP-584, KIP-778)."""

from __future__ import annotations

from records.errors import Error
from records.messages.features import UpdateFeaturesRequest
from records.messages.versions import ApiVersionsRequest
from tools.client.admin import ANY_OR_ACTIVE, CONTROLLER, Call
from tools.client.exceptions import KafkaError
from tools.command_line.java_texts import Uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tools.client.admin import Admin

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def describe_features(admin: Admin, node_id: int | None) -> Any:
    """The response of a node, of any if node_id is None. Raises Uncaught."""
    request = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
    where = ANY_OR_ACTIVE if node_id is None else node_id
    return admin.result(Call("describeFeatures", lambda _: request, _check_description, where))


def _check_description(response: Any) -> Any:
    if response.error_code:
        raise KafkaError(response.error_code)
    return response


def update_features(admin: Admin, levels: Mapping[str, int], kind: int, *, dry_run: bool) -> dict[str, str | None]:
    """The message of the exception for each feature; None where its level is set.

    levels: feature -> new level. Raises Uncaught for a feature without a name.
    """
    if any(not name.strip() for name in levels):
        raise Uncaught("java.lang.IllegalArgumentException", "Provided feature can not be empty.")
    updates = tuple(
        UpdateFeaturesRequest.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
        for name, level in levels.items()
    )

    def request(timeout_ms: int) -> UpdateFeaturesRequest:
        return UpdateFeaturesRequest(timeout_ms=timeout_ms, validate_only=dry_run, feature_updates=updates)

    def outcome(response: Any) -> dict[str, str | None]:
        if response.error_code:
            moved = response.error_code == Error.NOT_CONTROLLER
            raise KafkaError(response.error_code, response.error_message, is_final=not moved)
        if not response.results:
            return dict.fromkeys(levels)
        messages: dict[str, str | None] = {
            name: f"The controller response did not contain a result for feature {name}" for name in levels
        }
        for result in response.results:
            if result.feature in messages:
                failed = KafkaError(result.error_code, result.error_message) if result.error_code else None
                messages[result.feature] = failed.message if failed else None
        return messages

    try:
        messages: dict[str, str | None] = admin.call(Call("updateFeatures", request, outcome, CONTROLLER))
    except Uncaught as error:
        return dict.fromkeys(levels, error.message)
    return messages
