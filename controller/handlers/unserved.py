"""APIs that stock's controllers announce and do not serve: DescribeDelegationToken, DescribeUserScramCredentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from records.errors import ApiError, Error

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State


def refuse_unserved(_state: State, _context: RequestContext, _request: Any, _env: Env) -> NoReturn:
    """Raises ApiError(UNKNOWN_SERVER_ERROR), as stock does: brokers serve these APIs."""
    raise ApiError(Error.UNKNOWN_SERVER_ERROR)
