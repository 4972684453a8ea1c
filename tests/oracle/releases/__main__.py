"""`python -m tests.oracle.releases [FROM TO]`: print what differs between two releases of stock Kafka.

Their classes are listed from the jars, the messages read from the definitions in them; levels, APIs, configuration
keys, errors and metrics are what the classes themselves say (`Facts.java`), and the texts of the tools what the tools
print. docs/conformance/4.4.md has the rows, with what was done about each.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations.chaos.ports import free_ports
from tests.interop.class_archive import CLUSTER_ID
from tests.interop.stock import TOOLS, Stock

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("Facts.java")
PROPERTIES = """\
process.roles=controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{port}
controller.listener.names=CONTROLLER
listeners=CONTROLLER://127.0.0.1:{port}
listener.security.protocol.map=CONTROLLER:PLAINTEXT
log.dirs={directory}
"""
# Classes that a controller, its quorum, its log and the tools of operators consist of; shaded ones are not Kafka's.
PACKAGES = re.compile(
    r"kafka/(server|tools|admin|raft|security|network)/"
    r"|org/apache/kafka/(controller|metadata|image|raft|server|network|shell|tools|security|common/(message|metadata|errors))/"
)
APART = re.compile(r"\$|/server/(share|log|purgatory)/|JsonConverter|/tools/(consumer|streams)/")
# Tools whose usage is compared.
TEXTS = sorted(set(TOOLS) - {"metadata-shell", "console-producer", "console-consumer"})
# The usage of kafka-acls lists the operations in the order of a hash, another one in each process.
OPERATIONS = re.compile(r"(Valid operation names are:) .*? (\(default: All\)|--)")
VERBS = {
    "cluster": ("cluster-id", "unregister", "list-endpoints", "api-versions", "unregister-controller"),
    "metadata-quorum": ("describe", "add-controller", "remove-controller"),
    "features": ("describe", "upgrade", "downgrade", "disable", "version-mapping", "feature-dependencies"),
    "storage": ("info", "format", "version-mapping", "feature-dependencies", "random-uuid"),
}
SAME_LENGTH_MAX = 400

Facts = dict[tuple[str, str], str]


def facts(stock: Stock) -> Facts:
    """Kind and name -> value, of all facts of a release."""
    stock.bring()
    found: Facts = {}
    for jar in sorted(stock.jars.glob("kafka*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class") and PACKAGES.match(name) and not APART.search(name):
                    found["class", name.removesuffix(".class").replace("/", ".")] = ""
                elif re.fullmatch(r"common/(message|metadata)/\w+\.json", name):
                    found.update(message_facts(archive.read(name).decode()))
    found.update(class_facts(stock))
    found.update(text_facts(stock))
    return found


def message_facts(text: str) -> Facts:
    """What the definition of one message says; comments and the documentation of fields are left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    message: dict[str, Any] = json.loads("\n".join(re.sub(r"\s//.*", "", line) for line in lines))
    name = message["name"]
    head = {key: value for key, value in message.items() if key not in {"fields", "commonStructs", "name"}}
    found = {("message", name): json.dumps(head, sort_keys=True)}
    structs = [{"name": f"({each['name']})", **each} for each in message.get("commonStructs", ())]
    found.update(_fields(name, [*message.get("fields", ()), *structs]))
    return found


def _fields(path: str, fields: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, str], str]]:
    for field in fields:
        own = {key: value for key, value in field.items() if key not in {"about", "fields", "name"}}
        place = f"{path}.{field['name']}"
        yield ("field", place), json.dumps(own, sort_keys=True)
        yield from _fields(place, field.get("fields", []))


def class_facts(stock: Stock) -> Facts:
    """What `Facts.java` prints on the classes of a release."""
    with tempfile.TemporaryDirectory() as name:
        properties = Path(name) / "controller.properties"
        properties.write_text(PROPERTIES.format(port=free_ports(1)[0], directory=Path(name) / "data"))
        done = stock.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(properties))
        assert done.returncode == 0, done.stderr
        command = stock.java(str(PROGRAM), str(properties), heap="-Xmx512m", level="ERROR", target="SYSTEM_ERR")
        ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=180)
    rows = (line.split("\t", 2) for line in ran.stdout.splitlines())
    return {(row[0], row[1]): row[2] for row in rows if len(row) == 3}


def text_facts(stock: Stock) -> Facts:
    """What the tools print for `--help`."""
    found: Facts = {}
    for tool in TEXTS:
        for verb in ((), *((verb,) for verb in VERBS.get(tool, ()))):
            done = stock.tool(tool, *verb, "--help")
            lines = re.sub(r"\s+", " ", done.stdout + done.stderr).strip()
            found["help", " ".join((tool, *verb))] = OPERATIONS.sub(r"\1 … \2", lines)
    return found


def differences(old: Facts, new: Facts) -> Iterator[str]:
    """A line for each fact that only one of the releases has, and two for each whose value differs."""
    for kind, name in sorted(old.keys() | new.keys()):
        before, after = old.get((kind, name)), new.get((kind, name))
        if before == after:
            continue
        if before is None or after is None:
            sign, value = ("+", after) if before is None else ("-", before)
            yield f"{sign} {kind}\t{name}\t{_short(value or '')}"
        else:
            start = 0 if len(before) < SAME_LENGTH_MAX else _first_difference(before, after)
            yield f"< {kind}\t{name}\t{_short(before[start:])}"
            yield f"> {kind}\t{name}\t{_short(after[start:])}"


def _first_difference(before: str, after: str) -> int:
    """Where two texts part, less some characters before it."""
    pairs = enumerate(zip(before, after, strict=False))
    return max(0, next((at for at, (one, other) in pairs if one != other), min(len(before), len(after))) - 40)


def _short(value: str) -> str:
    return value if len(value) <= SAME_LENGTH_MAX else f"{value[:SAME_LENGTH_MAX]}…"


def main(arguments: list[str]) -> int:
    old, new = arguments or ("4.3.1", "4.4.0")
    for line in differences(facts(Stock(old)), facts(Stock(new))):
        sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
