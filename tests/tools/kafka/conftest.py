"""A quorum of one node for the tests of the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import free_port, running
from tools.client.admin import Admin
from tools.client.settings import settings_of
from tools.kafka.cluster_calls import describe_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(name="address", scope="module")
def _address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a quorum of one node, which leads, without brokers."""
    port = free_port()
    with running(tmp_path_factory.mktemp("node"), port):
        with Admin(settings_of(None, f"127.0.0.1:{port}", {})) as admin:
            describe_cluster(admin)  # waits until there is a leader
        yield f"127.0.0.1:{port}"
