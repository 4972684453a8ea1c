"""The controls of the timeline: plots over time are zoomed together; rows are filtered by time, cluster and text.

The script is in the page and loads nothing. Without it the page shows everything, and the controls are hidden.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CSS = """
#times { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; position: sticky; top: 0; z-index: 1;
  background: var(--page); padding: 8px 0; border-bottom: 1px solid var(--line); }
#times[hidden], tr[hidden], .over[hidden] { display: none; }
#times label { display: grid; font-size: 12px; color: var(--soft); }
#times input, #times select, #times button { font: inherit; font-size: 13.5px; color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 3px 8px; }
#times input:invalid { border-color: var(--bad); }
#times output { font-size: 13px; color: var(--soft); }
svg[data-first] { cursor: crosshair; touch-action: pan-y; }
@media print { #times { display: none; } }
"""

SCRIPT = r"""
"use strict";
(() => {
  const form = document.getElementById("times"), {from, to, cluster, words, shown} = form.elements;
  const plots = [...document.querySelectorAll("svg[data-first]")];
  const rows = [...document.querySelectorAll("tbody tr")];
  const names = new Set([...cluster.options].map((one) => one.value).filter(Boolean));
  const ms = (text) => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) ? Date.parse(text.replace(" ", "T") + "Z") : NaN;
  const time = (at) => new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const span = (plot) => [+plot.dataset.first, +plot.dataset.last];
  const times = rows.map((row) => [...row.cells].map((cell) => ms(cell.textContent)).find((at) => at === at));
  const of = rows.map((row) => [...row.cells].map((cell) => cell.textContent).find((text) => names.has(text)));
  const ends = plots.map(span).concat(times.filter((at) => at === at && at !== undefined).map((at) => [at, at + 1000]));
  const whole = [Math.min(...ends.map((one) => one[0])), Math.max(...ends.map((one) => one[1]))];
  let range = null;
  const draw = () => {
    for (const plot of plots) {
      const [first, last] = range ?? span(plot), {left, room, step} = plot.dataset;
      const x = (at) => +left + room * Math.min(Math.max((at - first) / (last - first), 0), 1);
      for (const mark of plot.querySelectorAll("[data-at]")) {
        const at = +mark.dataset.at, begin = x(at), end = x(at + +step);
        mark.style.display = at + +step > first && at < last ? "" : "none";
        mark.setAttribute("x", begin);
        mark.setAttribute("width", Math.max(end - begin - 1, 1));
      }
      plot.querySelectorAll(".when").forEach((tick, at) => {
        if (range) tick.textContent = time(first + (last - first) * at / 2).slice(last - first < 172800000 ? 11 : 0);
        else tick.textContent = tick.dataset.whole;
      });
      plot.closest(".over").hidden = cluster.value && plot.dataset.cluster !== cluster.value;
    }
    const wanted = words.value.toLowerCase();
    rows.forEach((row, at) => {
      row.hidden = Boolean(range && (times[at] < range[0] || times[at] >= range[1])
        || cluster.value && of[at] !== undefined && of[at] !== cluster.value
        || wanted && !row.textContent.toLowerCase().includes(wanted));
    });
    [from.value, to.value] = (range ?? whole).map(time);
    for (const one of [from, to]) one.setCustomValidity("");
    shown.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  const zoom = (first, last) => {
    const size = Math.max(last - first, 1000), start = Math.max(Math.min(first, whole[1] - size), whole[0]);
    range = size >= whole[1] - whole[0] ? null : [start, start + size];
    draw();
  };
  const moves = {in: [.25, .75], out: [-.5, 1.5], back: [-.5, .5], on: [.5, 1.5]};
  form.addEventListener("click", (event) => {
    const move = moves[event.target.value], [first, last] = range ?? whole;
    if (event.target.value === "whole") zoom(...whole);
    else if (move) zoom(first + move[0] * (last - first), first + move[1] * (last - first));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => { if (event.target === words || event.target === cluster) draw(); });
  for (const field of [from, to]) field.addEventListener("change", () => {
    const [first, last] = [ms(from.value), ms(to.value)];
    const problem = first < last ? "" : "expected YYYY-MM-DD HH:MM:SS, from before to";
    for (const one of [from, to]) one.setCustomValidity(problem);
    if (first < last) zoom(first, last);
  });
  for (const plot of plots) {
    const at = (event) => {
      const box = plot.getBoundingClientRect(), [first, last] = range ?? span(plot), {left, room} = plot.dataset;
      const x = (event.clientX - box.left) / box.width * plot.viewBox.baseVal.width;
      return first + Math.min(Math.max((x - left) / room, 0), 1) * (last - first);
    };
    let begin = null;
    plot.addEventListener("pointerdown", (event) => { begin = [event.clientX, at(event)]; });
    plot.addEventListener("pointerup", (event) => {
      if (begin && Math.abs(event.clientX - begin[0]) > 4) zoom(...[begin[1], at(event)].sort((a, b) => a - b));
      begin = null;
    });
    plot.addEventListener("dblclick", () => zoom(...whole));
  }
  if (rows.length) { form.hidden = false; draw(); }
})();
"""


def controls(clusters: Iterable[str]) -> str:
    """The controls, which the script shows."""
    options = "".join(f'<option value="{escape(one)}">{escape(one)}</option>' for one in clusters)
    buttons = "".join(
        f'<button type="button" value="{value}">{escape(name)}</button>'
        for value, name in (
            ("in", "Zoom in"), ("out", "Zoom out"), ("back", "Earlier"), ("on", "Later"), ("whole", "Whole"),
        )
    )  # fmt: skip
    field = '<label>{}<input name="{}" size="19" autocomplete="off"></label>'
    return (
        f'<form id="times" aria-label="Timeline" hidden>{field.format("From (UTC)", "from")}'
        f"{field.format('To (UTC)', 'to')}{buttons}"
        f'<label>Cluster<select name="cluster"><option value="">all</option>{options}</select></label>'
        '<label>Rows with<input name="words" type="search" size="16"></label>'
        '<output name="shown" aria-live="polite"></output></form>'
    )
