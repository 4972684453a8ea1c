"""The status page in a real browser: its content, while the leader is cut off, accessibility, light and dark."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from simulations.chaos.quorum import NODES
from tests.deploy.browser import Browser, browser, found_browser
from tests.deploy.model_brokers import populate
from tests.deploy.watched import Watched, eventually, watched

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
SETTINGS = {"broker.session.timeout.ms": "600000"}
# WCAG 2.2, 1.4.3.
CONTRAST_MIN = 4.5
CONTRASTS = """
(() => {
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const paper = (node) => {
    for (; node; node = node.parentElement) {
      const found = numbers(getComputedStyle(node).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const hasText = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
  return [...document.querySelectorAll("body *")]
    .filter((node) => node.checkVisibility() && hasText(node))
    .map((node) => {
      const [high, low] = [light(numbers(getComputedStyle(node).color)), light(paper(node))].sort((a, b) => b - a);
      return [(high + 0.05) / (low + 0.05), node.tagName + "." + node.className + ": " + node.innerText.slice(0, 30)];
    });
})()
"""


@pytest.fixture(name="quorum", scope="module")
def _quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("page"), SETTINGS) as quorum:
        populate(quorum, quorum.await_leader())
        yield quorum


@pytest.fixture(name="page", scope="module")
def _page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = found_browser()
    if path is None:
        pytest.skip("no browser is installed: apt-get install chromium")
    with browser(path, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def open_node(page: Browser, quorum: Watched, node: int, *, dark: bool = False) -> None:
    page.open(f"http://127.0.0.1:{quorum.http_ports[node]}/", dark=dark)
    page.await_text("#title", f"KRaft controller {node}")


def test_the_page_shows_the_quorum_the_brokers_and_unhealthy_partitions(page: Browser, quorum: Watched) -> None:
    leader = quorum.await_leader()

    open_node(page, quorum, leader)
    page.await_text("#status", "Ready")

    assert "There are offline partitions." in page.text("#status")
    assert f"{leader} (this one)\tleader" in page.text("#voters")
    assert [row.split("\t")[:2] for row in page.text("#brokers tbody").split("\n")] == [
        ["101", "active"],
        ["102", "active"],
        ["103", "fenced"],
    ]
    assert page.text("#h-offline") == "Offline partitions: 1"
    assert page.text("#offline tbody").split("\t")[:2] == ["archive-0", "103"]
    assert page.text("#h-under") == "Under-replicated partitions: 3"
    lacking = {row.split("\t")[0] for row in page.text("#under tbody").split("\n")}
    assert lacking == {"archive-0", "orders-1", "orders-2"}
    assert "controller_active" in page.text("#events")
    assert page.text("#leaders tbody").split("\t")[1:2] == [f"node {leader}"]
    assert page.value("document.querySelectorAll('#bar div').length >= 1") is True
    assert re.search(r"metadata.version\n\d+ \(\d\.\d-IV\d\)", page.text("#node"))
    # A node that starts may fail to connect to one that is not there yet: that problem ends by itself.
    problems = [
        "1 partition without a leader: nobody can write or read there. What to do",
        "3 partitions with replicas that are not in sync. What to do",
        "1 fenced broker: 103. What to do",
    ]
    eventually(lambda: page.text("#problems").split("\n") == problems, "no other problem")
    assert page.troubles() == []


def test_the_page_of_a_cut_off_leader_says_so_and_recovers_without_a_reload(page: Browser, quorum: Watched) -> None:
    old = quorum.await_leader()
    others = [node for node in NODES if node != old]
    open_node(page, quorum, old)
    page.await_text("#status", "Ready")

    quorum.cut_off(old)
    page.await_text("#status", "Not ready")
    page.await_text("#events", "quorum_lost")
    eventually(lambda: quorum.leader() in others, "another leads")
    quorum.await_ready(*others)
    new = quorum.await_leader()

    assert "Failed: joined." in page.text("#status")
    assert "no leader is known" in page.text("#cause"), "the cause in words"
    assert page.text("#voters tbody").count("\n") == 2, "all voters are still listed"
    assert page.text("#h-offline") == "Offline partitions: 1"
    open_node(page, quorum, new)
    page.await_text("#status", f"node {new} leads")

    open_node(page, quorum, old)
    page.await_text("#status", "Not ready")
    quorum.network.heal()
    page.await_text("#status", f"node {new} leads")
    assert "Ready." in page.text("#status")
    assert page.troubles() == []


def test_the_page_links_to_the_pages_of_nodes_on_other_hosts(page: Browser, quorum: Watched) -> None:
    open_node(page, quorum, quorum.await_leader())
    page.await_text("#status", "Ready")

    voters = "[{id: 1, endpoints: ['C://c1:9093']}, {id: 2, endpoints: ['C://c2:9093']}, {id: 3, endpoints: ['C://fd00::3:9093']}]"
    port = quorum.http_ports[quorum.await_leader()]
    links = page.value(f"pages({voters}, 1); [...document.querySelectorAll('#voters a')].map((one) => one.host)")

    assert links == [f"c2:{port}", f"[fd00::3]:{port}"]


def test_the_pages_of_nodes_on_one_host_are_on_ports_as_far_apart_as_their_listeners(
    page: Browser, quorum: Watched
) -> None:
    """As `kraftctl up` runs them, also through a tunnel, where the host is `localhost` to the browser."""
    leader = quorum.await_leader()
    port = quorum.http_ports[leader]
    open_node(page, quorum, leader)
    page.await_text("#status", "Ready")

    voters = [{"id": node, "endpoints": [f"CONTROLLER://10.0.0.1:{19090 + node}"]} for node in NODES]
    script = f"pages({json.dumps(voters)}, 2); [...document.querySelectorAll('#voters a')].map((one) => one.host)"

    assert page.value(script) == [f"127.0.0.1:{port - 1}", f"127.0.0.1:{port + 1}"]


def test_each_problem_leads_to_its_row_of_the_runbook(page: Browser, quorum: Watched) -> None:
    open_node(page, quorum, quorum.await_leader())
    page.await_text("#problems", "What to do")

    page.value("document.querySelector('#problems a').click()")
    page.await_text(":target", "KraftOfflinePartitions")

    assert page.value("location.pathname + location.hash") == "/runbook#kraftofflinepartitions"
    assert page.troubles() == []


def test_without_scripts_the_page_has_the_state_of_the_request(page: Browser, quorum: Watched) -> None:
    leader = quorum.await_leader()
    page.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open(f"http://127.0.0.1:{quorum.http_ports[leader]}/")
        page.await_text("header", f"Voter {leader}")
        shown = page.text("body")
    finally:
        page.ask("Emulation.setScriptExecutionDisabled", value=False)

    assert f"node {leader} leads. There are offline partitions." in shown
    assert "Broker 103\nfenced" in shown
    assert "1 partition without a leader: nobody can write or read there (what to do)" in shown
    assert "Connecting" not in shown


def test_on_a_narrow_screen_nothing_is_cut_off(page: Browser, quorum: Watched) -> None:
    page.open(f"http://127.0.0.1:{quorum.http_ports[quorum.await_leader()]}/", width=400)
    page.await_text("#brokers", "fenced")

    cut = page.value(
        "[...document.querySelectorAll('caption')].filter((one) => one.checkVisibility())"
        ".filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)"
        ".map((one) => one.innerText)"
    )

    assert cut == []
    assert page.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth") is True


def test_the_page_loads_nothing_from_other_hosts(page: Browser, quorum: Watched) -> None:
    node = NODES[0]

    open_node(page, quorum, node)
    loaded = page.value("performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname)")
    source = quorum.get(node, "/")[1]

    assert set(loaded) <= {"/events"}
    assert not re.search(r"""(src|href|url\(|fetch\(|import)\W*(https?:)?//""", source), "an address of another host"


def test_the_page_has_headings_and_labels_for_screen_readers(page: Browser, quorum: Watched) -> None:
    open_node(page, quorum, quorum.await_leader())
    page.await_text("#status", "Ready")

    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    found = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    roles = [role for role, _ in found]

    assert page.value("document.documentElement.lang") == "en"
    assert {role: roles.count(role) for role in ("banner", "main", "navigation", "contentinfo", "status")} == {
        "banner": 1,
        "main": 1,
        "navigation": 1,
        "contentinfo": 1,
        "status": 1,
    }
    assert all(name for role, name in found if role in {"table", "region", "group", "link", "heading", "navigation"})
    assert {name for role, name in found if role == "heading"} >= {"Quorum", "Brokers", "Elections", "Recent events"}
    # A screen reader reads only changes of the status aloud, not values that change each second.
    assert page.value("[...document.querySelectorAll('[aria-live]')].map((one) => one.id)") == ["status"]
    assert page.value("[...document.querySelectorAll('th')].every((one) => one.scope)") is True


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_enough_contrast_in_the_light_and_the_dark_theme(
    page: Browser, quorum: Watched, dark: bool
) -> None:
    open_node(page, quorum, quorum.await_leader(), dark=dark)
    page.await_text("#status", "Ready")

    faint = [text for contrast, text in page.value(CONTRASTS) if contrast < CONTRAST_MIN]
    is_dark = page.value("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"

    assert faint == []
    assert is_dark == dark


def test_the_page_of_a_stopped_node_says_that_it_is_out_of_date(page: Browser, quorum: Watched) -> None:
    node = next(node for node in NODES if node != quorum.leader())
    open_node(page, quorum, node)

    quorum.end(node)
    page.await_text("#status", "This node does not answer.")
    quorum.start(node)

    page.await_text("#status", "Ready")
