"""What runs in simulation is what is shipped. Each level loads every module of a node but those that it replaces, only
adapters reach clocks, random numbers, files, sockets and threads, and no result depends on an address or a set's order.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from simulations.running.lines import LEFT_OUT

ROOT = Path(__file__).resolve().parents[2]

# The only modules of a node that reach the system: its files, threads, sockets with signals, the log, the files of
# certificates, the nonces of SCRAM, the thread of long requests, and what accepts connections in the place of uvloop.
ADAPTERS = (
    "raft.network.acceptor", "raft.storage.files", "raft.storage.flusher", "controller.server.start",
    "controller.node.logging.logs", "controller.security", "raft.security", "raft.network.mechanisms",
    "controller.node.long_thread",
)  # fmt: skip

# Modules that serve an operator, or run before a node does.
AROUND = (
    "controller.config", "controller.server.http", "controller.server.grpc", "controller.server.self_checks",
    "controller.server.service_manager", "controller.server.stack_dumps", "controller.node.audit.audit_file",
    "controller.server.started_threads", "controller.node.file_descriptors", "records.__main__",
)  # fmt: skip

OUTSIDE = {"datetime", "os", "random", "secrets", "select", "socket", "subprocess", "threading", "time", "uuid"}

# Names of such modules that are constants or types, or functions of their arguments alone.
PURE = {
    "os.strerror", "random.Random", "socket.AF_INET", "socket.AF_INET6", "socket.IPPROTO_TCP", "socket.SOL_SOCKET",
    "socket.SO_KEEPALIVE", "socket.TCP_NODELAY", "socket.TCP_QUICKACK", "socket.gaierror", "socket.inet_pton",
    "time.gmtime", "time.strftime",
}  # fmt: skip

# A lock between the loop's thread and the flush thread, which in simulation is a greenlet.
LOCKS = {"raft.storage.disk_queue": {"threading.Lock"}}

LISTING = {"iter", "join", "list", "tuple"}
ORDER_FREE = {"all", "any", "bool", "frozenset", "len", "max", "min", "set", "sorted", "sum"}


# The HTTP port, but for what its views say of the quorum.
HTTP = (
    "answers", "connection", "counted", "events", "exposition", "metrics", "names", "page", "port", "process", "quorum",
    "reading", "rows", "watchdog",
)  # fmt: skip

# What no level runs: what happens before a node starts, the ports for operators, the process's own log.
NOWHERE = (
    "controller.config.documentation", "raft.security.kubernetes",
    "controller.node.audit", "controller.node.file_descriptors", "controller.node.logging.log_events",
    "controller.node.logging.logs", "controller.node.long_thread", "controller.security", "controller.server.grpc",
    "controller.server.identity", "controller.server.door", "controller.server.self_checks",
    "controller.server.service_manager", "controller.server.stack_dumps", "controller.server.start",
    "controller.server.started_threads",
    *(f"controller.server.http.{name}" for name in HTTP), "raft.formation", "raft.network.bearer",
    "raft.security", "raft.storage.bootstrap", "raft.storage.directory_lock", "raft.storage.flusher",
    "raft.storage.meta_properties",
)  # fmt: skip

# Loaded where a configuration names an authorizer.
AUTHORIZERS = ("controller.node.authorizers", "controller.node.plugins", "controller.rules.authorizer")

# Loaded where a listener has SASL.
SASL = ("raft.network.mechanisms", "raft.network.sasl_gate", "raft.network.sasl_login")

# What a level replaces besides; `raft.storage.files` is loaded everywhere for its types (DESIGN.md).
REPLACED = {
    "raft": ("controller", "raft.autopilot", "raft.network"),
    "controller": (
        "raft.network.acceptor", "raft.network.channel", "raft.network.channels", "raft.network.connection",
        "raft.network.framer", "raft.network.handshakes", "raft.network.link", "raft.network.security",
        "raft.network.server", "raft.network.silent_connections", "raft.network.tls", "raft.network.turns",
        "raft.network.versions", *AUTHORIZERS, *SASL,
    ),
    "node": (*AUTHORIZERS, *SASL),
    "secured": (),
}  # fmt: skip

MISSING = """
import json, pathlib, sys
from simulations.levels.table import load
level = load(sys.argv[1])
for seed in (2, 4, 12):  # small worlds
    level.play(level.draw(seed))
paths = [path for root in ("raft", "controller") for path in pathlib.Path(root).rglob("*.py")]
names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths}
print(json.dumps(sorted(names - sys.modules.keys())))
"""


@cache
def sources() -> dict[str, ast.Module]:
    """Name -> module, of all modules that a node runs between its adapters."""
    found = {}
    for package in ("records", "raft", "controller"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if not any(name == each or name.startswith(f"{each}.") for each in (*ADAPTERS, *AROUND)):
                found[name] = ast.parse(path.read_text())
    return found


def outside_used(name: str, tree: ast.Module) -> list[str]:
    """Each use of something that a simulation cannot control."""
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    allowed = PURE | LOCKS.get(name, set())
    modules = imported(tree)
    found = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OUTSIDE:
            found += [f"{name}:{node.lineno} {node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [f"{name}:{node.lineno} {alias.name}" for alias in node.names if alias.asname in OUTSIDE]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found.append(f"{name}:{node.lineno} {node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            found.append(f"{name}:{node.lineno} open")
    return [each for each in found if each.split(" ")[1] not in allowed]


def imported(tree: ast.Module) -> set[str]:
    """The modules of OUTSIDE that this module imports by name."""
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return names & OUTSIDE


def places_used(name: str, tree: ast.Module) -> list[str]:
    """Each call of `id`, and each of `hash` outside a `__hash__`."""
    in_hash = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "__hash__"
        for inner in ast.walk(node)
    }
    return [
        f"{name}:{node.lineno} {node.func.id}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"id", "hash"}
        and id(node) not in in_hash
    ]


def sets_walked(name: str, tree: ast.Module) -> list[str]:
    """Each place where the order of a set could show: it is iterated, listed or joined where order counts."""
    attributes = {
        node.target.attr if isinstance(node.target, ast.Attribute) else node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, (ast.Attribute, ast.Name))
        and ast.unparse(node.annotation).startswith(("set[", "frozenset["))
    }
    found = []
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            continue
        own = list(within(scope))
        local = {
            target.id
            for node in own
            if isinstance(node, ast.Assign) and is_set(node.value, set(), attributes)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        free = {
            id(argument)
            for node in own
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ORDER_FREE
            for argument in node.args
        }
        for node in own:
            walked: list[ast.expr] = []
            if isinstance(node, ast.For):
                walked = [node.iter]
            elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)) and id(node) not in free:
                walked = [each.iter for each in node.generators]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in LISTING:
                walked = [argument for argument in node.args if id(node) not in free]
            elif isinstance(node, ast.Starred):
                walked = [node.value]
            found += [f"{name}:{each.lineno} {ast.unparse(each)}" for each in walked if is_set(each, local, attributes)]
    return found


def within(scope: ast.AST) -> list[ast.AST]:
    """All nodes of a function, without those of functions in it."""
    found: list[ast.AST] = []
    left = list(ast.iter_child_nodes(scope))
    while left:
        node = left.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            left += ast.iter_child_nodes(node)
    return found


def is_set(node: ast.expr, local: set[str], attributes: set[str]) -> bool:
    """Whether an expression is a set, as far as its syntax shows."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"set", "frozenset"}
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.Sub, ast.BitXor)):
        return is_set(node.left, local, attributes) or is_set(node.right, local, attributes)
    if isinstance(node, ast.Attribute):
        return node.attr in attributes
    return isinstance(node, ast.Name) and node.id in local


@pytest.mark.parametrize("level", REPLACED)
def test_a_level_runs_all_of_a_node_but_what_it_replaces(level):
    done = subprocess.run([sys.executable, "-c", MISSING, level], cwd=ROOT, capture_output=True, text=True, check=True)
    missing = json.loads(done.stdout)

    excused = (*NOWHERE, *REPLACED[level], *(each for each in AROUND if each != "controller.config"))
    assert [name for name in missing if not is_of(name, excused)] == []
    assert [each for each in (*NOWHERE, *REPLACED[level]) if not any(is_of(name, (each,)) for name in missing)] == []


def is_of(name, packages):
    """Whether a module is one of these, or in one of these packages."""
    return any(name == each or name.startswith(f"{each}.") for each in packages)


def test_only_the_adapters_reach_clocks_random_numbers_files_sockets_and_threads():
    assert [each for name, tree in sources().items() for each in outside_used(name, tree)] == []
    assert len(ADAPTERS) <= 9  # raft.security and controller.security are one adapter in two packages


def test_each_adapter_exists_and_is_excluded_from_line_coverage():
    for name in ADAPTERS:
        path = ROOT / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file()
    assert set(ADAPTERS) <= set(LEFT_OUT)


def test_nothing_depends_on_the_address_of_an_object():
    assert [each for name, tree in sources().items() for each in places_used(name, tree)] == []


def test_nothing_depends_on_the_order_of_a_set():
    assert [each for name, tree in sources().items() for each in sets_walked(name, tree)] == []


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("import time\nnow = time.monotonic()", "outside"),
        ("from uuid import uuid4", "outside"),
        ("import os\npath = os.environ", "outside"),
        ("rows.sort(key=lambda row: id(row))", "place"),
        ("first = hash(name)", "place"),
        ("names = {each.name for each in rows}\nfor name in names:\n    send(name)", "set"),
        ("def joined(self):\n    return ', '.join(set(self.names))", "set"),
        ("class A:\n    ids: set[int]\n    def joined(self):\n        return [*self.ids]", "set"),
        ("known = set(rows)\nfound = sorted(known) + [len(known), max(each for each in known)]", ""),
        ("import socket\nfamily = socket.AF_INET", ""),
        ("class A:\n    def __hash__(self):\n        return hash(self.key)", ""),
    ],
)  # fmt: skip
def test_the_checks_find_what_they_look_for(text, seen):
    tree = ast.parse(text)
    looked = {"outside": outside_used, "place": places_used, "set": sets_walked}

    assert [kind for kind, look in looked.items() if look("module", tree)] == ([seen] if seen else [])
