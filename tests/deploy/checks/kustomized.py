"""The manifests that kustomize renders from deploy/kubernetes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

KUBERNETES = Path(__file__).parents[3] / "deploy" / "kubernetes"


def rendered(directory: Path) -> str:
    """The resources of a kustomization, as YAML."""
    tool = ["kustomize", "build"] if shutil.which("kustomize") else ["kubectl", "kustomize"]
    done = subprocess.run([*tool, str(directory)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def overlay_with(component: str, under: Path) -> Path:
    """A copy of the overlay for production with this component."""
    shutil.copytree(KUBERNETES, under / "kubernetes")
    kustomization = under / "kubernetes" / "overlays" / "production" / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text() + f"components: [../../components/{component}]\n")
    return kustomization.parent


def by_kind(text: str) -> dict[str, Any]:
    """The resources by kind; each kind occurs once."""
    resources = list(yaml.safe_load_all(text))
    found = {resource["kind"]: resource for resource in resources}
    assert len(found) == len(resources)
    return found
