"""The printed guide (`records.printing.guide`) compared with the protocol guides of the 0.9 era and of Kafka 4.1.

Each grammar of a text is compared with the grammar that the guide prints for the same API and version: names, types,
nesting and header version. A grammar is equal, different with a reason for each differing field, or missing. A
difference without a reason fails the tests. `python -m tests.records.guide_comparison` prints the figures and every
difference; with `GUIDE FILE` behind it (0.9 or 4.1, and a file with the page) it reads the grammars from that page.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from records.errors import Error, error_of
from records.headers import RequestHeader, ResponseHeader
from records.printing.guide import PRIMITIVES, api_guide, message_guide
from records.registry import APIS, request_class, response_class
from records.schema import schema_of
from tests.records.golden import DATA
from tests.records.guide_differences import API_NAMES, ERROR_NAMES, ERROR_TEXTS, FIELD_NAMES, SAME_BYTES
from tests.records.guide_text import TAGGED_FIELDS, UNKNOWN, read_guide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.records.guide_text import Guide, Parsed, Printed

GUIDES = ("0.9", "4.1")

RENAMED = "Kafka has renamed the field since; its bytes are the same"
NOT_PRINTED = "the text does not print what the array holds"
PLAIN = "the text prints a struct that is no array; a struct has no bytes of its own, so Kafka 4.x prints its fields"
ONE_FIELD = "the text prints a struct of one field; Kafka 4.x prints the field's type; the bytes are the same"
NO_REASON = "no reason known"


class Difference(NamedTuple):
    """One field that the text and the printed guide tell differently."""

    path: str
    in_text: str
    in_ours: str
    reason: str


class Outcome(NamedTuple):
    """What the comparison of one grammar gave. differences: empty where equal; None where we print no such grammar."""

    title: str
    version: int
    differences: tuple[Difference, ...] | None

    @property
    def verdict(self) -> str:
        """`equal`, `different` or `missing`."""
        if self.differences is None:
            return "missing"
        return "different" if self.differences else "equal"


@cache
def guide(name: str) -> Guide:
    """What the guide of this name says: 0.9 or 4.1."""
    return read_guide((DATA / "protocol-guides" / f"guide-{name}.txt").read_text())


def compared(name: str, parsed: Guide) -> list[Outcome]:
    """The outcome for each grammar of a guide, in its order."""
    return [_outcome(name, grammar) for grammar in parsed.grammars]


def _outcome(name: str, parsed: Printed) -> Outcome:
    api, side = parsed.title.split()
    key = {known: key for key, (known, _) in APIS.items()}.get(API_NAMES.get(api, api))
    ours = None if key is None else printed(key, side, parsed.version)
    if key is None or ours is None:
        return Outcome(parsed.title, parsed.version, None)
    schema = schema_of((request_class if side == "Request" else response_class)(key))
    found = list(differences(name, parsed.fields, in_the_print_of(ours.fields, schema.is_flexible(parsed.version))))
    if parsed.header_version not in (None, ours.header_version):
        found.append(Difference("header", str(parsed.header_version), str(ours.header_version), NO_REASON))
    return Outcome(parsed.title, parsed.version, tuple(found))


@cache
def printed(api_key: int, side: str, version: int) -> Printed | None:
    """What `records.printing.guide` prints for one side of an API in one version; None where it prints nothing."""
    first, last = schema_of((request_class if side == "Request" else response_class)(api_key)).versions
    if not first <= version <= last:
        return None
    return next(one for one in read_guide(api_guide(api_key, version)).grammars if one.title.endswith(side))


def in_the_print_of(fields: Iterable[Parsed], flexible: bool) -> list[Parsed]:
    """Our fields in the notation of 0.9 and 4.1.

    Our print has the notation of Kafka 4.3, which tells more: tagged fields (4.1 prints `_tagged_fields` for all of
    them), and which arrays and structs may be null. 0.9 has no flexible versions.
    """
    out: list[Parsed] = [
        (name, around.replace("?", ""), kind if isinstance(kind, str) else in_the_print_of(kind, flexible))
        for name, around, kind in fields
        if "<tag:" not in name
    ]
    return [*out, (TAGGED_FIELDS, "", "")] if flexible else out


def differences(guide_name: str, parsed: list[Parsed], ours: list[Parsed], path: str = "") -> Iterator[Difference]:
    """The differing fields of two structs, each with its reason."""
    rest = list(ours)
    for name, around, kind in parsed:
        here = f"{path}{name}"
        if not isinstance(kind, str) and not around and (not rest or rest[0][0] != name):
            yield Difference(here, "struct", "its fields", PLAIN)
            count = len(kind)
            yield from differences(guide_name, kind, rest[:count], f"{here}.")
            rest = rest[count:]
            continue
        if not rest:
            yield Difference(here, _shown(around, kind), "nothing", NO_REASON)
            continue
        our_name, our_around, our_kind = rest.pop(0)
        if name != our_name:
            reason = RENAMED if (name, our_name) in FIELD_NAMES[guide_name] else NO_REASON
            yield Difference(here, name, our_name, reason)
        yield from _kinds(guide_name, here, (around, kind), (our_around, our_kind))
    for name, around, kind in rest:
        yield Difference(f"{path}{name}", "nothing", _shown(around, kind), NO_REASON)


def _kinds(
    guide_name: str, path: str, parsed: tuple[str, str | list[Parsed]], ours: tuple[str, str | list[Parsed]]
) -> Iterator[Difference]:
    (around, kind), (our_around, our_kind) = parsed, ours
    shown = _shown(around, kind), _shown(our_around, our_kind)
    if around != our_around:
        yield Difference(path, *shown, NO_REASON)
    elif isinstance(kind, list) and isinstance(our_kind, list):
        yield from differences(guide_name, kind, our_kind, f"{path}.")
    elif isinstance(kind, list):
        reason = ONE_FIELD if len(kind) == 1 and kind[0][1:] == ("", our_kind) else NO_REASON
        yield Difference(path, *shown, reason)
    elif kind == UNKNOWN and around:
        yield Difference(path, *shown, NOT_PRINTED)
    elif kind != our_kind:
        reason = SAME_BYTES[guide_name].get((kind, our_kind), NO_REASON) if isinstance(our_kind, str) else NO_REASON
        yield Difference(path, *shown, reason)


def _shown(around: str, kind: str | list[Parsed]) -> str:
    inner = kind if isinstance(kind, str) else f"{{ {' '.join(name for name, _, _ in kind)} }}"
    return f"[{inner}]" if around else inner


def compared_headers(name: str, parsed: Guide) -> list[Outcome]:
    """The outcome for each header; those of 0.9 have no version, and are 1 (requests) and 0 (responses)."""
    found = []
    for header in parsed.headers:
        cls, first = (RequestHeader, 1) if header.title.startswith("Request") else (ResponseHeader, 0)
        version = first if header.version < 0 else header.version
        ours = read_guide(message_guide(cls, version)).headers[0]
        fields = in_the_print_of(ours.fields, schema_of(cls).is_flexible(version))
        found.append(Outcome(header.title, version, tuple(differences(name, header.fields, fields))))
    return found


def compared_errors(name: str, parsed: Guide) -> list[Outcome]:
    """The outcome for each row of a guide's table of errors."""
    found = []
    for row in parsed.errors:
        ours = error_of(row.code)
        if not isinstance(ours, Error):
            found.append(Outcome(row.name, row.code, None))
            continue
        rows = (
            ("name", row.name, ours.name, ERROR_NAMES.get(row.name)),
            ("retriable", str(row.is_retriable), str(ours.is_retriable), ERROR_TEXTS.get((name, row.code))),
            ("text", row.text, ours.text, ERROR_TEXTS.get((name, row.code))),
        )
        unequal = (Difference(what, text, our, reason or NO_REASON) for what, text, our, reason in rows if text != our)
        found.append(Outcome(row.name, row.code, tuple(unequal)))
    return found


def missing_types(parsed: Guide) -> list[str]:
    """Primitive types of a guide that the guide does not explain; arrays stand there by their brackets."""
    ours = {name for name, _ in PRIMITIVES}
    in_brackets = {"ARRAY": "[name]", "COMPACT_ARRAY": "(name)"}
    return [name for name in parsed.types if in_brackets.get(name, name) not in ours]


def missing_apis(parsed: Guide) -> list[str]:
    """APIs of a guide whose key is not ours by that name, or by the name that Kafka has given it since."""
    return [
        f"{name} {key}" for name, key in parsed.api_keys.items() if APIS.get(key, ("",))[0] != API_NAMES.get(name, name)
    ]


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many are equal, different and missing."""
    verdicts = [outcome.verdict for outcome in outcomes]
    return {verdict: verdicts.count(verdict) for verdict in ("equal", "different", "missing")}


def report(name: str, parsed: Guide) -> str:
    """The figures of one guide, then a line for each difference."""
    lines = [f"Guide {name}"]
    for what, compare in (("grammars", compared), ("headers", compared_headers), ("errors", compared_errors)):
        outcomes = compare(name, parsed)
        figures = ", ".join(f"{count} {verdict}" for verdict, count in counts(outcomes).items())
        lines.append(f"  {len(outcomes)} {what}: {figures}")
        for outcome in outcomes:
            lines += [f"    {outcome.title} {outcome.version}: missing"] * (outcome.differences is None)
            for path, text, ours, reason in outcome.differences or ():
                lines.append(f"    {outcome.title} {outcome.version}: {path}: {text} here, {ours} with us: {reason}")
    lines.append(f"  {len(parsed.api_keys)} APIs, missing: {', '.join(missing_apis(parsed)) or 'none'}")
    lines.append(f"  {len(parsed.types)} primitive types, missing: {', '.join(missing_types(parsed)) or 'none'}")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(report(sys.argv[1], read_guide(Path(sys.argv[2]).read_text())))
    else:
        print("\n".join(report(name, guide(name)) for name in GUIDES))
