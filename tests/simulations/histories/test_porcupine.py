"""The checker decides public histories as their authors did (tests/data/porcupine)."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from simulations.histories.linearizable import check
from simulations.histories.models import Register, Strings
from simulations.histories.operations import Recorder

DATA = Path(__file__).resolve().parents[2] / "data" / "porcupine"
LABELS = dict(line.split() for line in (DATA / "labels.txt").read_text().splitlines())

JEPSEN = re.compile(r"INFO\s+jepsen\.util\s+-\s+(\d+)\s+:(\w+)\s+:(\w+)\s+(.*)")
STRINGS = re.compile(r'\{:process (\d+), :type :(\w+), :f :(\w+), :key "(.*)", :value (nil|"(.*)")\}')


@pytest.mark.parametrize("family", ["jepsen", "kv"])
def test_every_public_history_gets_the_verdict_of_its_label(family):
    names = [name for name in LABELS if name.startswith(family)]
    read, model = {"jepsen": (jepsen, Register()), "kv": (strings, Strings())}[family]

    with ZipFile(DATA / "histories.zip") as archive:
        verdicts = {name: check(model, read(archive.read(name).decode())).result for name in names}

    assert len(names) == {"jepsen": 102, "kv": 6}[family]
    assert verdicts == {name: LABELS[name] for name in names}


def jepsen(text):
    recorder = Recorder()
    under_way = {}
    for line in text.splitlines():
        found = JEPSEN.match(line)
        if found is None:
            continue
        client, kind, name, value = found.groups()
        if kind == "invoke":
            values = () if value == "nil" else tuple(map(int, value.strip("[]").split()))
            under_way[client] = recorder.ask(client, (name, *values))
        elif kind == "ok" or (kind == "fail" and name == "cas"):
            answer = (None if value == "nil" else int(value)) if name == "read" else kind == "ok"
            recorder.answer(under_way.pop(client), answer)
        # Operations that timed out, or have an unknown outcome, stay without an answer.
    return recorder.operations


def strings(text):
    recorder = Recorder()
    under_way = {}
    for line in text.splitlines():
        found = STRINGS.match(line)
        if found is None:
            continue
        client, kind, name, key, _, value = found.groups()
        if kind == "invoke":
            under_way[client] = recorder.ask(client, (name, key) if name == "get" else (name, key, value))
        else:
            recorder.answer(under_way.pop(client), value if name == "get" else None)
    return recorder.operations
