"""The optional packages of the distribution, and how to install them."""

from __future__ import annotations

from shlex import quote

# Whether an index of packages has `kraft-quorum`. Without, the name there is free for anyone to take.
IS_PUBLISHED = False

# By extra: its requirements, as in pyproject.toml.
EXTRAS = {
    "gssapi": ("gssapi>=1.9",),
    "grpc": ("grpcio>=1.70", "msgpack>=1.1"),
    "pipeline": ("pandas>=2.2,<3", "pyarrow>=18,<27", "pyspark==4.3.0"),
    "security": ("cryptography>=42", "PyJWT>=2.12"),
    "simulations": ("greenlet>=3.1", "msgpack>=1.1"),
}


def install_command(extra: str, *, is_published: bool = IS_PUBLISHED) -> str:
    """The shell command that installs the packages of an extra; run it with the pip of the node's environment."""
    wanted = (f"kraft-quorum[{extra}]",) if is_published else EXTRAS[extra]
    return f"pip install {' '.join(quote(each) for each in wanted)}"
