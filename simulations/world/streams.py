"""Named random streams: each part of a world has its own, so one more draw in one changes no other."""

from __future__ import annotations

from hashlib import blake2b
from random import Random


def stream(root: int, *names: str | int) -> Random:
    """The stream of this name, among those with one root."""
    name = "/".join(map(str, (root, *names)))
    return Random(int.from_bytes(blake2b(name.encode(), digest_size=16).digest(), "big"))


def between(rng: Random, least: int, most: int) -> int:
    """A number from `least` to `most`, both included; several times quicker than `randint`."""
    return least + int(rng.random() * (most - least + 1))


def directory_id(root: int, node_id: int, disk_number: int) -> bytes:
    """The directory id that the formatter gave to a disk of a node."""
    return blake2b(f"{root}/directory/{node_id}/{disk_number}".encode(), digest_size=16).digest()
