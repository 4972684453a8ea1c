"""Runs the steps of a Dockerfile in directories instead of images: needs root, but no container engine."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Step(NamedTuple):
    """One instruction. rest: as written, continuation lines joined."""

    name: str
    rest: str


@dataclass
class Image:
    """The result of a stage. root: its file system; user: `UID:GID`; command: the words of CMD."""

    root: Path
    env: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    )
    workdir: str = "/"
    user: str = "0:0"
    volumes: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    stop_signal: str = "SIGTERM"


def parse(text: str) -> list[Step]:
    """The instructions, without comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Step(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def build(dockerfile: Path, base: Path, under: Path, passed: dict[str, str]) -> Image:
    """The last stage of a Dockerfile. base: the root that each FROM begins with; passed: more environment for RUN."""
    stages: dict[str, Image] = {}
    arguments: dict[str, str] = {}
    image: Image | None = None
    for step in parse(dockerfile.read_text()):
        if step.name == "ARG":
            name, _, value = step.rest.partition("=")
            arguments[name] = value
        elif step.name == "FROM":
            words = step.rest.split()
            name = words[2] if len(words) == 3 else f"stage-{len(stages)}"
            image = stages[name] = Image(under / name)
            subprocess.run(["cp", "-a", str(base), str(image.root)], check=True)
        else:
            assert image is not None, "an instruction before FROM"
            _do(image, step, dockerfile.parent, stages, passed)
    assert image is not None
    return image


def _do(image: Image, step: Step, context: Path, stages: dict[str, Image], passed: dict[str, str]) -> None:
    match step.name:
        case "RUN":
            run_in(image, ["/bin/sh", "-ec", step.rest], passed)
        case "WORKDIR":
            image.workdir = step.rest
            (image.root / step.rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "COPY":
            _copy(image, step.rest.split(), context, stages)
        case "ENV":
            for word in shlex.split(step.rest):
                name, _, value = word.partition("=")
                image.env[name] = VARIABLE.sub(lambda found: image.env.get(found[1] or found[2], ""), value)
        case "USER":
            image.user = step.rest
        case "VOLUME":
            image.volumes = json.loads(step.rest)
        case "CMD":
            image.command = json.loads(step.rest)
        case "HEALTHCHECK":
            image.health = json.loads(step.rest.split(" CMD ", 1)[1])
        case "STOPSIGNAL":
            image.stop_signal = step.rest
        case "LABEL" | "EXPOSE":
            pass
        case other:
            raise AssertionError(f"{other} is not known here")


def _copy(image: Image, words: list[str], context: Path, stages: dict[str, Image]) -> None:
    source = context
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    *names, target = words
    into = image.root / (target if target.startswith("/") else f"{image.workdir}/{target}").lstrip("/")
    for name in names:
        path = source / name.lstrip("/")
        if path.is_dir():
            shutil.copytree(path, into, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            is_directory = target.endswith("/") or len(names) > 1
            to = into / path.name if is_directory else into
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def run_in(image: Image, command: list[str], passed: dict[str, str]) -> None:
    """Run a command as root in the image's root, writable."""
    environment = {**passed, **image.env}
    words = ["chroot", str(image.root), "/usr/bin/env", "-C", image.workdir, *command]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
