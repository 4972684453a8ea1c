"""Parts are limited in size, and each file is redacted by its kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tools.kraftctl.debug import parts
from tools.kraftctl.debug.parts import Rendered, collect_parts, render
from tools.kraftctl.debug.redaction import Redaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

WITHOUT_NAMES = Redaction([], ["orders"], bytes(32))


def test_a_file_that_is_too_large_is_cut_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "FILE_BYTES_MAX", 10)
    monkeypatch.setattr(parts, "ALL_BYTES_MAX", 15)

    def three() -> Iterator[tuple[str, Any]]:
        for name in ("a.txt", "b.txt", "c.txt"):
            yield name, "12345678901"

    rendered = Rendered(collect_parts({"one": three}, 5), Redaction([], None, bytes(32)))

    assert rendered.files == {"a.txt": b"1234567890", "b.txt": b"12345", "c.txt": b""}
    assert rendered.sections["one"]["cut"] == ["a.txt", "b.txt", "c.txt"]


def test_the_labels_of_metrics_have_no_names() -> None:
    text = '# HELP orders_x about orders\norders_x{listener="orders",quantile="0.5"} 3\n'

    assert render("metrics/0.prom", text, WITHOUT_NAMES) == (
        f'# HELP orders_x about orders\norders_x{{listener="{WITHOUT_NAMES.pseudonym("orders")}",quantile="0.5"}} 3\n'
    )


def test_a_line_of_a_log_in_json_keeps_its_keys() -> None:
    line = json.dumps({"event": "node_starting", "node_id": 1, "peer": "shop7.example:9093"})

    shown = json.loads(render("logs/0.log", line + "\n", WITHOUT_NAMES))

    assert (shown["event"], shown["node_id"]) == ("node_starting", 1)
    assert "shop7" not in shown["peer"]
    assert shown["peer"].endswith(":9093")


def test_the_path_of_an_installation_is_not_in_the_stacks() -> None:
    installed = "/srv/acme/lib/python3.11/site-packages/kraft_quorum/raft/step.py"
    text = f'File "{installed}", line 3 in step\nFile "/srv/acme/plugin.py", line 4 in decide\n'

    shown = render("process/stacks.txt", text, WITHOUT_NAMES)

    assert 'raft/step.py", line 3 in step' in shown
    assert "acme" not in shown
    assert "plugin.py" not in shown
