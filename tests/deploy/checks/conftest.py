"""The image, built once for all checks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.deploy.checks.dockerfile import Image, build
from tests.deploy.checks.empty_root import make, network_environment


@pytest.fixture(name="image", scope="session")
def _image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The root file system that the steps of the Dockerfile build."""
    if os.geteuid() != 0:
        pytest.skip("only root can chroot into the image")
    under = tmp_path_factory.mktemp("image")
    make(under / "base")
    return build(Path(__file__).parents[3] / "Dockerfile", under / "base", under, network_environment())
