"""How the file descriptors of a process are divided."""

from __future__ import annotations

import pytest

from controller.node.file_descriptors import Shares, raise_file_limit, shares


@pytest.mark.parametrize(
    ("files", "shared"),
    [(128, Shares(64, 16)), (1024, Shares(640, 128)), (4096, Shares(3328, 512)), (1 << 20, Shares(64_000, 4096))],
)
def test_connections_leave_file_descriptors_for_the_log(files: int, shared: Shares) -> None:
    assert shares(files) == shared
    assert shared.connections + shared.backlog < files


def test_a_process_raises_its_file_limit_to_the_maximum() -> None:
    resource = pytest.importorskip("resource")

    assert raise_file_limit() >= resource.getrlimit(resource.RLIMIT_NOFILE)[0]
