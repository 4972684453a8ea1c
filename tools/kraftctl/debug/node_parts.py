"""The parts of a bundle that a running node, its process and the other voters give."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace

from records.java.config_error import ConfigError
from tools.kraftctl.debug.process_stacks import NoStacks, stacks_of
from tools.kraftctl.nodes.http_page import OK

# pathlib costs 10 ms
# ruff: noqa: PTH123, PTH208

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.kraftctl.debug.parts import Content
    from tools.kraftctl.debug.subject import Subject

CLIENT_ID = "kraftctl-debug"
ASK_S = 5.0
PROBES = ("/livez", "/startupz", "/readyz")
EVENTS_BYTES_MAX = 1 << 20
PROCESS_FILES = ("status", "limits", "io", "sched", "wchan")


class NotThere(Exception):
    """There is nothing to collect for a part; the text says why, in one line."""


def node_part(subject: Subject) -> Iterator[Content]:
    """What the node's HTTP port says: its view of the quorum, its probes, its last log events."""
    page = subject.page(ASK_S)
    if page is None:
        raise NotThere("the node has no HTTP port: kraft.http.listener is not set")
    try:
        status, text = page.get("/quorum")
        yield "node/quorum.json", json.loads(text) if status == OK else {"status": status, "answer": text}
        yield "node/probes.json", {path: json.loads(page.get(path)[1]) for path in PROBES}
        yield "node/events.json", page.first_event("/events", EVENTS_BYTES_MAX)
    finally:
        page.close()


def metrics_part(subject: Subject, seconds: float, every_s: float) -> Iterator[Content]:
    """The metrics of some time: a file for each reading, named by its second. The first comes at once."""
    page = subject.page(ASK_S)
    if page is None:
        raise NotThere("the node has no HTTP port: kraft.http.listener is not set")
    began_s = time.monotonic()
    try:
        while True:
            passed_s = time.monotonic() - began_s
            status, text = page.get("/metrics")
            if status != OK:
                raise NotThere(f"/metrics answers {status}: {text.strip()}")
            yield f"metrics/{passed_s:07.2f}s.prom", text
            wait_s = min(every_s, seconds - passed_s)
            if wait_s <= 0:
                return
            time.sleep(wait_s)
    finally:
        page.close()


def voters_part(subject: Subject) -> Iterator[Content]:
    """The quorum as its leader sees it, and as each voter sees it, of ours and of stock."""
    from tools.client.quorum import NoLeader, look_in_parallel
    from tools.client.quorum_options import known_nodes, node_security
    from tools.kraftctl.nodes.http_page import Caller
    from tools.kraftctl.nodes.node_status import ask_all

    config = subject.config
    if config is None:
        raise NotThere("only a configuration names the quorum; give -c")
    security = node_security(config)
    addresses = list(dict.fromkeys([*config.voters.values(), *config.bootstrap_servers]))
    known = known_nodes(Namespace(config=subject.config_path))
    try:
        view = look_in_parallel(addresses, CLIENT_ID, ASK_S, security)
    except NoLeader as error:
        yield "voters/leader.json", {"error": str(error)}
    else:
        voters = [
            {**each._asdict(), "listeners": _texts(view.listeners.get(node, {}))} for node, each in view.voters.items()
        ]
        observers = [each._asdict() for each in view.all_observers]
        yield "voters/leader.json", {
            "cluster_id": view.cluster_id, "leader_id": view.leader_id, "epoch": view.epoch,
            "high_watermark": view.high_watermark, "end_offset": view.end_offset, "taken_ms": view.taken_ms,
            "voters": voters, "observers": observers,
        }  # fmt: skip
        for listeners in view.listeners.values():
            own = listeners.get(config.controller_listener_names[0].upper())
            if own is not None and own not in addresses:
                addresses.append(own)
    caller = Caller().or_of(config)
    statuses = ask_all(addresses, known, caller, security)
    yield (
        "voters/views.json",
        [{**each._asdict(), "counts": each.counts and each.counts._asdict()} for each in statuses],
    )


def _texts(listeners: dict[str, tuple[str, int]]) -> list[str]:
    return [f"{name}://{host}:{port}" for name, (host, port) in listeners.items()]


def process_part(subject: Subject) -> Iterator[Content]:
    """The process that has the lock of the directory: what the kernel says of it, and the stacks of its threads."""
    from tools.offline.lock import lock_holder

    if subject.directory is None:
        raise NotThere("the directory is not known")
    process = lock_holder(f"{subject.directory}/.lock")
    if process is None:
        raise NotThere("no process has the lock of the directory: the node does not run")
    if process == 0:
        raise NotThere("the node runs on another machine, or in a container whose processes are not visible here")
    for name in PROCESS_FILES:
        try:
            with open(f"/proc/{process}/{name}") as file:
                yield f"process/{name}.txt", file.read(EVENTS_BYTES_MAX)
        except OSError as error:
            yield f"process/{name}.txt", f"{error.strerror}\n"
    try:
        count = len(os.listdir(f"/proc/{process}/fd"))
        yield "process/descriptors.json", {"open": count}
        yield "process/stacks.txt", stacks_of(process)
    except (NoStacks, OSError) as error:
        raise NotThere(f"stacks: {error}") from None


def doctor_part(subject: Subject) -> Iterator[Content]:
    """What `kraftctl doctor` finds, and its way out."""
    from tools.kraftctl.doctor.doctor import examine

    if subject.config_path is None:
        raise NotThere("kraftctl doctor needs a configuration; give -c")
    findings, block = examine(subject.config_path, int(time.time() * 1000), ASK_S, is_offline=False)
    yield "doctor.json", {"findings": [each._asdict() for each in findings], "do": block}


def config_part(subject: Subject) -> Iterator[Content]:
    """The keys that the configuration sets; values that may be secrets are hidden."""
    from controller.server.http.quorum import config_view
    from tools.config_file import read_properties

    if subject.config_path is None:
        raise NotThere("no configuration was given; give -c")
    if subject.config is None:
        yield "config.json", {"error": subject.error, "keys": sorted(read_properties(subject.config_path))}
        raise ConfigError(subject.error)
    keys = [{"key": key, "value": value} for key, value in config_view(subject.config).items()]
    yield "config.json", {"keys": keys, "warnings": list(subject.config.warnings)}


def versions_part() -> Iterator[Content]:
    """Of this tool, of Python, of the libraries that a node uses, and of the system.

    compiled: whether this is the compiled wheel (docs/releases.md).
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from raft.state import commit
    from records.release import KAFKA_COMMIT_ID, KAFKA_VERSION, VERSION

    packages: dict[str, str | None] = {}
    for name in ("uvloop", "numpy", "structlog", "h11", "cryptography", "grpcio", "lz4", "zstandard", "python-snappy"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    yield "versions.json", {
        "kraft_quorum": VERSION, "kafka": KAFKA_VERSION, "kafka_commit": KAFKA_COMMIT_ID,
        "compiled": not str(commit.__file__).endswith(".py"),
        "python": platform.python_version(), "packages": packages,
        "system": platform.system(), "release": platform.release(),
        "machine": platform.machine(), "cpus": os.cpu_count(),
    }  # fmt: skip
