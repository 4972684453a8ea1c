"""APIs that stock's controllers announce and do not serve."""

from __future__ import annotations

from typing import Any

import pytest

from records.errors import Error
from records.messages.scram import DescribeUserScramCredentialsRequest
from records.messages.tokens import DescribeDelegationTokenRequest
from tests.controller.rig import Rig


@pytest.mark.parametrize(
    "request_", [DescribeUserScramCredentialsRequest(users=None), DescribeDelegationTokenRequest(owners=None)]
)
def test_an_unserved_api_gets_an_unknown_server_error(request_: Any) -> None:
    assert Rig().lead().ask(request_).error_code == Error.UNKNOWN_SERVER_ERROR
